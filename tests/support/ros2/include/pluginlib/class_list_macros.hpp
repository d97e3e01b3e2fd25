// A plugin can be made by the name of its class, as text.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace pluginlib
{
template <class Base>
inline std::map<std::string, std::function<std::unique_ptr<Base>()>> plugins;
}  // namespace pluginlib

#define PLUGINLIB_EXPORT_CLASS(Class, Base) \
  static const bool exported = \
    pluginlib::plugins<Base>.emplace(#Class, [] { return std::unique_ptr<Base>(new Class()); }).second;
