// As much of hardware_interface's handles as generated controllers use, for tests; not the header of ROS 2.
#pragma once

#include <string>

namespace hardware_interface
{
class Handle
{
public:
  Handle(const std::string & prefix_name, const std::string & interface_name, double * value_ptr = nullptr)
  : prefix(prefix_name), name(interface_name), value(value_ptr)
  {
  }
  std::string prefix, name;
  double * value;
};

class StateInterface : public Handle
{
public:
  using Handle::Handle;
};

class CommandInterface : public Handle
{
public:
  using Handle::Handle;
};
}  // namespace hardware_interface
