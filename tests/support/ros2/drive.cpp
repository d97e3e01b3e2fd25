// Runs a controller of a generated package as a controller manager does: drive CLASS reads commands, a line each, and
// prints an answer to each.
#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <new>
#include <sstream>

#include "controller_interface/chainable_controller_interface.hpp"
#include "geometry_msgs/msg/pose.hpp"
#include "pluginlib/class_list_macros.hpp"
#include "trajectory_msgs/msg/joint_trajectory_point.hpp"

static bool counting = false;
static int allocations = 0;
void * operator new(std::size_t size)
{
  allocations += counting;
  return std::malloc(size);
}
void operator delete(void * place) noexcept { std::free(place); }
void operator delete(void * place, std::size_t) noexcept { std::free(place); }

using controller_interface::CallbackReturn;
using Controller = controller_interface::ChainableControllerInterface;
using Point = trajectory_msgs::msg::JointTrajectoryPoint;
using Pose = geometry_msgs::msg::Pose;

static double number(const std::string & word)
{
  return std::strtod(word.c_str(), nullptr);  // NaN too
}

static std::vector<double> list(std::istream & words)
{
  std::vector<double> found;
  for (std::string word; words >> word && word != ";";)
    found.push_back(number(word));
  return found;
}

static void say(CallbackReturn what)
{
  std::cout << (what == CallbackReturn::SUCCESS ? "success" : "error") << "\n";
}

template <class Message>
static void send(Controller & one, const std::string & topic, const Message & message)
{
  std::static_pointer_cast<rclcpp::Subscription<Message>>(one.node->topics.at(topic))->callback(message);
  std::cout << "sent\n";
}

static void configure(Controller & one)
{
  const auto done = one.on_configure(rclcpp_lifecycle::State());
  if (done == CallbackReturn::SUCCESS) {
    one.export_interfaces();
    one.command_interfaces_.resize(one.command_interface_configuration().names.size());
    one.state_interfaces_.resize(one.state_interface_configuration().names.size());
  }
  say(done);
}

static void cycle(Controller & one, double seconds)
{
  counting = true;
  const auto said = one.update(rclcpp::Time(), rclcpp::Duration(seconds));
  counting = false;
  std::cout << (said == controller_interface::return_type::OK ? "ok" : "error");
  for (const auto & joint : one.command_interfaces_)
    std::cout << " " << joint.value;
  std::cout << "\n";
}

static void names(const Controller & one)
{
  for (const auto & name : one.command_interface_configuration().names)
    std::cout << name << " ";
  for (const auto & name : one.state_interface_configuration().names)
    std::cout << name << " ";
  for (const auto & reference : one.references)
    std::cout << reference.prefix << "/" << reference.name << " ";
  for (const auto & state : one.states)
    std::cout << state.prefix << "/" << state.name << " ";
  std::cout << "\n";
}

static void obey(Controller & one, const std::string & what, std::istream & words)
{
  std::string name;
  if (what == "joints") {
    for (auto & joints = one.node->texts["joints"]; words >> name;)
      joints.push_back(name);
  } else if (what == "numbers") {
    words >> name;
    one.node->numbers[name] = list(words);
  } else if (what == "value") {
    words >> name;
    one.node->values[name] = list(words).at(0);
  } else if (what == "flag") {
    words >> name;
    one.node->flags[name] = list(words).at(0) != 0.0;
  } else if (what == "init") {
    return say(one.on_init());
  } else if (what == "configure") {
    return configure(one);
  } else if (what == "activate") {
    return say(one.on_activate(rclcpp_lifecycle::State()));
  } else if (what == "deactivate") {
    return say(one.on_deactivate(rclcpp_lifecycle::State()));
  } else if (what == "names") {
    return names(one);
  } else if (what == "measured") {
    const auto values = list(words);
    for (std::size_t k = 0; k < values.size(); ++k)
      one.state_interfaces_.at(k).value = values[k];
  } else if (what == "lock") {
    one.state_interfaces_.at(std::size_t(list(words).at(0))).value.reset();
  } else if (what == "takes") {
    one.command_interfaces_.at(0).takes = list(words).at(0) != 0.0;
  } else if (what == "chained") {
    one.set_chained_mode(list(words).at(0) != 0.0);
  } else if (what == "references") {
    const auto values = list(words);
    for (std::size_t k = 0; k < values.size(); ++k)
      *one.references.at(k).value = values[k];
  } else if (what == "message") {
    const auto q = list(words), qd = list(words), qdd = list(words);
    return send(one, "~/reference", Point{q, qd, qdd, {}});
  } else if (what == "pose") {
    const auto x = list(words);
    return send(one, "~/pose", Pose{{x.at(0), x.at(1), x.at(2)}, {x.at(3), x.at(4), x.at(5), x.at(6)}});
  } else if (what == "set") {
    one.node->post_set.lock()->callback({});
  } else if (what == "cycle") {
    return cycle(one, list(words).at(0));
  } else if (what == "exported") {
    for (const auto & state : one.states)
      std::cout << *state.value << " ";
  } else if (what == "allocations") {
    std::cout << allocations;
  } else {
    throw std::invalid_argument(what);
  }
  std::cout << "\n";
}

int main(int, char ** words)
{
  std::cout.precision(17);
  const auto one = pluginlib::plugins<Controller>.at(words[1])();
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream rest(line);
    std::string what;
    rest >> what;
    try {
      obey(*one, what, rest);
    } catch (const std::exception & error) {
      std::cerr << line << ": " << error.what() << "\n";
      return 2;
    }
  }
  return 0;
}
