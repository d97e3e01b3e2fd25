// As much of rclcpp as generated controllers use, for tests; not the header of ROS 2.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace rclcpp
{
class Time
{
};

class Duration
{
public:
  explicit Duration(double seconds) : seconds_(seconds) {}
  double seconds() const { return seconds_; }

private:
  double seconds_;
};

class Logger
{
};

class Clock
{
};

class Parameter
{
};

namespace node_interfaces
{
struct PostSetParametersCallbackHandle
{
  using SharedPtr = std::shared_ptr<PostSetParametersCallbackHandle>;
  std::function<void(const std::vector<Parameter> &)> callback;
};
}  // namespace node_interfaces

class SystemDefaultsQoS
{
};

template <class Message>
class Subscription
{
public:
  using SharedPtr = std::shared_ptr<Subscription>;
  std::function<void(const Message &)> callback;
};

/// A node: its parameters, and who listens to which topic.
class Node
{
public:
  Logger get_logger() const { return {}; }
  std::shared_ptr<Clock> get_clock() const { return clock; }
  const char * get_name() const { return "this_controller"; }

  node_interfaces::PostSetParametersCallbackHandle::SharedPtr add_post_set_parameters_callback(
    std::function<void(const std::vector<Parameter> &)> callback)
  {
    auto made = std::make_shared<node_interfaces::PostSetParametersCallbackHandle>();
    made->callback = std::move(callback);
    post_set = made;
    return made;
  }

  template <class Message, class Callback>
  typename Subscription<Message>::SharedPtr create_subscription(
    const std::string & topic, const SystemDefaultsQoS &, Callback && callback)
  {
    auto made = std::make_shared<Subscription<Message>>();
    made->callback = callback;
    topics[topic] = made;
    return made;
  }

  std::shared_ptr<Clock> clock = std::make_shared<Clock>();
  std::weak_ptr<node_interfaces::PostSetParametersCallbackHandle> post_set;
  std::map<std::string, double> values;
  std::map<std::string, bool> flags;
  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::shared_ptr<void>> topics;
};
}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))
#define RCLCPP_WARN_THROTTLE(logger, clock, milliseconds, ...) \
  ((void)(clock), (void)(milliseconds), RCLCPP_ERROR(logger, __VA_ARGS__))
