// As much of controller_interface and hardware_interface as generated controllers use, for tests, by the signatures of
// ros2_control 4 and later; not the header of ROS 2.
#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "hardware_interface/handle.hpp"
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

class ChainableControllerInterface
{
public:
  virtual ~ChainableControllerInterface() = default;
  virtual InterfaceConfiguration command_interface_configuration() const = 0;
  virtual InterfaceConfiguration state_interface_configuration() const = 0;
  virtual CallbackReturn on_init() = 0;
  virtual CallbackReturn on_configure(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
  virtual CallbackReturn on_deactivate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }

  return_type update(const rclcpp::Time & time, const rclcpp::Duration & period)
  {
    if (!chained && update_reference_from_subscribers(time, period) != return_type::OK) {
      return return_type::ERROR;
    }
    return update_and_write_commands(time, period);
  }

  // What the controller manager calls once after on_configure; it checks what was exported.
  void export_interfaces()
  {
    references = on_export_reference_interfaces();
    states = on_export_state_interfaces();
    if (reference_interfaces_.size() != references.size()) {
      throw std::runtime_error("reference_interfaces_");
    }
    for (const auto & one : references) {
      check(one);
    }
    for (const auto & one : states) {
      check(one);
    }
  }
  void set_chained_mode(bool mode) { chained = on_set_chained_mode(mode) ? mode : chained; }
  std::shared_ptr<rclcpp::Node> get_node() const { return node; }

  // What the controller manager has, and a test sees.
  std::shared_ptr<rclcpp::Node> node = std::make_shared<rclcpp::Node>();
  std::vector<hardware_interface::LoanedCommandInterface> command_interfaces_;
  std::vector<hardware_interface::LoanedStateInterface> state_interfaces_;
  std::vector<hardware_interface::CommandInterface> references;
  std::vector<hardware_interface::StateInterface> states;
  bool chained = false;

protected:
  virtual std::vector<hardware_interface::CommandInterface> on_export_reference_interfaces() { return {}; }
  virtual std::vector<hardware_interface::StateInterface> on_export_state_interfaces() { return {}; }
  virtual bool on_set_chained_mode(bool) { return true; }
  virtual return_type update_reference_from_subscribers(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  virtual return_type update_and_write_commands(const rclcpp::Time & time, const rclcpp::Duration & period) = 0;
  std::vector<double> reference_interfaces_;

private:
  void check(const hardware_interface::Handle & one) const
  {
    if (one.prefix != node->get_name() || one.value == nullptr) {
      throw std::runtime_error(one.prefix + "/" + one.name);
    }
  }
};
}  // namespace controller_interface
