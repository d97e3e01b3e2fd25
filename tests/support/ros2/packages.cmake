# The packages of ROS 2 that a generated package finds, as mocks: include it before the package is added.
# MOCKS is this folder, PYTHON an interpreter that has PyYAML.
foreach(name controller_interface geometry_msgs hardware_interface pluginlib rclcpp rclcpp_lifecycle trajectory_msgs)
  add_library(${name}::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name}::${name} SYSTEM INTERFACE ${MOCKS}/include)
endforeach()
set(trajectory_msgs_TARGETS trajectory_msgs::trajectory_msgs)
set(geometry_msgs_TARGETS geometry_msgs::geometry_msgs)

# find_package knows no others than those that package.xml must name.
macro(find_package name)
  file(APPEND ${CMAKE_BINARY_DIR}/found.txt "${name}\n")
endmacro()

function(generate_parameter_library name file)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/made/${PROJECT_NAME}/${name}.hpp)
  execute_process(
    COMMAND ${PYTHON} ${MOCKS}/parameters.py ${CMAKE_CURRENT_SOURCE_DIR}/${file} ${made}
    COMMAND_ERROR_IS_FATAL ANY)
  add_library(${name} INTERFACE)
  target_include_directories(${name} INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_BINARY_DIR}/made>)
endfunction()

function(pluginlib_export_plugin_description_file base file)
  if(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${file})
    message(FATAL_ERROR "${file} is missing")
  endif()
endfunction()

function(ament_export_targets)
endfunction()
function(ament_export_dependencies)
  file(WRITE ${CMAKE_BINARY_DIR}/exported.txt "${ARGV}")
endfunction()
function(ament_package)
endfunction()
