// Runs the controllers of a generated package as a controller manager does: drive CLASS REFERENCE? reads the numbers of
// joints and of gains' lists, and prints what is commanded, a line a cycle.
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <new>

#include "controller_interface/controller_interface.hpp"
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
using controller_interface::ControllerInterface;
using Point = trajectory_msgs::msg::JointTrajectoryPoint;

static std::vector<double> list(std::size_t size)
{
  std::vector<double> found(size);
  for (double & x : found)
    std::cin >> x;
  return found;
}

static void cycle(ControllerInterface & one)
{
  counting = true;
  const auto said = one.update(rclcpp::Time(), rclcpp::Duration(0.002));
  counting = false;
  std::cout << (said == controller_interface::return_type::OK ? "ok" : "error");
  for (const auto & joint : one.command_interfaces_)
    std::cout << " " << joint.value;
  std::cout << "\n";
}

int main(int count, char ** words)
{
  std::cout.precision(17);
  std::size_t n = 0, gains = 0;
  std::cin >> n >> gains;
  auto one = pluginlib::plugins<ControllerInterface>.at(words[1])();
  for (std::size_t k = 0; k < n; ++k)
    one->node->texts["joints"].push_back("left/joint" + std::to_string(k));
  if (one->on_init() != CallbackReturn::ERROR)
    return 2;  // gains are missing
  for (std::size_t k = 0; k < gains; ++k) {
    std::string name;
    std::cin >> name;
    one->node->numbers[name] = list(n);
  }
  const rclcpp_lifecycle::State state;
  if (one->on_init() != CallbackReturn::SUCCESS || one->on_configure(state) != CallbackReturn::SUCCESS)
    return 3;
  for (const auto & name : one->command_interface_configuration().names)
    std::cout << name << " ";
  for (const auto & name : one->state_interface_configuration().names)
    std::cout << name << " ";
  std::cout << "\n";
  one->command_interfaces_.resize(one->command_interface_configuration().names.size());
  one->state_interfaces_.resize(one->state_interface_configuration().names.size());
  const auto measured = list(2 * n);
  for (std::size_t k = 0; k < 2 * n; ++k)
    one->state_interfaces_[k].value = measured[k];
  if (one->on_activate(state) != CallbackReturn::SUCCESS)
    return 4;
  cycle(*one);  // at the place of activation, or gravity
  if (count > 2) {
    const auto tell = std::static_pointer_cast<rclcpp::Subscription<Point>>(one->node->topics.at("~/reference"))->callback;
    tell(Point{list(n), list(n), list(n), {}});
    cycle(*one);
    cycle(*one);  // the reference stays
    tell(Point{{1.0}, {}, {}, {}});
    tell(Point{std::vector<double>(n, std::nan("")), {}, {}, {}});
    cycle(*one);  // and so after what does not fit
  }
  one->state_interfaces_[0].value.reset();
  cycle(*one);  // as before
  one->state_interfaces_[0].value = std::numeric_limits<double>::quiet_NaN();
  cycle(*one);  // error, zeros
  one->on_deactivate(state);
  for (const auto & joint : one->command_interfaces_)
    std::cout << joint.value << " ";
  std::cout << "\n" << allocations << "\n";
  return 0;
}
