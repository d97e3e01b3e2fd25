// As much of rclcpp as generated controllers use, for tests; not the header of ROS 2.
#pragma once

#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
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

  template <class Message, class Callback>
  typename Subscription<Message>::SharedPtr create_subscription(
    const std::string & topic, const SystemDefaultsQoS &, Callback && callback)
  {
    auto made = std::make_shared<Subscription<Message>>();
    made->callback = callback;
    topics[topic] = made;
    return made;
  }

  std::map<std::string, std::vector<double>> numbers;
  std::map<std::string, std::vector<std::string>> texts;
  std::map<std::string, std::shared_ptr<void>> topics;
};
}  // namespace rclcpp

#define RCLCPP_ERROR(logger, ...) ((void)(logger), std::fprintf(stderr, __VA_ARGS__), std::fputc('\n', stderr))
#define RCLCPP_WARN RCLCPP_ERROR
