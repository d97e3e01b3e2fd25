// As much of controller_interface and hardware_interface as generated controllers use, for tests, by the signatures of
// ros2_control 4 and later; not the header of ROS 2.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rclcpp/rclcpp.hpp"
#include "rclcpp_lifecycle/state.hpp"

namespace hardware_interface
{
class LoanedStateInterface
{
public:
  [[nodiscard]] std::optional<double> get_optional(unsigned int max_tries = 10) const
  {
    return max_tries > 0 ? value : std::nullopt;
  }
  std::optional<double> value = 0.0;
};

class LoanedCommandInterface
{
public:
  [[nodiscard]] bool set_value(const double & wanted, unsigned int max_tries = 10)
  {
    value = wanted;
    return max_tries > 0 && takes;
  }
  double value = -1.0;
  bool takes = true;
};
}  // namespace hardware_interface

namespace controller_interface
{
enum class return_type { OK, ERROR };
enum class CallbackReturn { SUCCESS, FAILURE, ERROR };
enum class interface_configuration_type { ALL, INDIVIDUAL, NONE };

struct InterfaceConfiguration
{
  interface_configuration_type type = interface_configuration_type::NONE;
  std::vector<std::string> names = {};
};

class ControllerInterface
{
public:
  virtual ~ControllerInterface() = default;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual return_type update(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::shared_ptr<rclcpp::Node> get_node() { return node; }

  // What the controller manager has, and a test sees.
  std::shared_ptr<rclcpp::Node> node = std::make_shared<rclcpp::Node>();
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
};
}  // namespace controller_interface
