// A Pinocchio model of any scalar from a plain text: no library of Pinocchio is needed, so ours and its flags are one.
// A line a joint, in Pinocchio's order: kind parent, axis x y z, rotation (9, row-major), position, mass, centre of
// mass, inertia about it xx xy yy xz yz zz. Written by benchmarks/bench/plain.py.
#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <pinocchio/fwd.hpp>
#include <pinocchio/multibody.hpp>

// The joints that robots here have (and two that Pinocchio itself asks for): less to compile, not slower to run.
template<typename S, int O>
struct Joints : pinocchio::JointCollectionDefaultTpl<S, O>
{
  using All = pinocchio::JointCollectionDefaultTpl<S, O>;
  using Composite = pinocchio::JointModelCompositeTpl<S, O, ::Joints>;
  using Mimic = pinocchio::JointModelMimicTpl<S, O, ::Joints>;
  using CompositeData = pinocchio::JointDataCompositeTpl<S, O, ::Joints>;
  using MimicData = pinocchio::JointDataMimicTpl<S, O, ::Joints>;
  using JointModelVariant = boost::variant<
    typename All::JointModelRX, typename All::JointModelRY, typename All::JointModelRZ,
    typename All::JointModelRevoluteUnaligned, typename All::JointModelPX, typename All::JointModelPY,
    typename All::JointModelPZ, typename All::JointModelPrismaticUnaligned, typename All::JointModelFreeFlyer,
    boost::recursive_wrapper<Composite>, boost::recursive_wrapper<Mimic>>;
  using JointDataVariant = boost::variant<
    typename All::JointDataRX, typename All::JointDataRY, typename All::JointDataRZ,
    typename All::JointDataRevoluteUnaligned, typename All::JointDataPX, typename All::JointDataPY,
    typename All::JointDataPZ, typename All::JointDataPrismaticUnaligned, typename All::JointDataFreeFlyer,
    boost::recursive_wrapper<CompositeData>, boost::recursive_wrapper<MimicData>>;
};

using Plain = pinocchio::ModelTpl<double, 0, Joints>;

inline Plain::JointModel joint(const std::string & kind, const Eigen::Vector3d & axis)
{
  using namespace pinocchio;
  if (kind == "RX") return JointModelRX();
  if (kind == "RY") return JointModelRY();
  if (kind == "RZ") return JointModelRZ();
  if (kind == "RU") return JointModelRevoluteUnaligned(axis);
  if (kind == "PX") return JointModelPX();
  if (kind == "PY") return JointModelPY();
  if (kind == "PZ") return JointModelPZ();
  if (kind == "PU") return JointModelPrismaticUnaligned(axis);
  if (kind == "FF") return JointModelFreeFlyer();
  throw std::runtime_error("no joint is called " + kind);
}

inline Plain read(const std::string & path)
{
  Plain model;
  std::ifstream file(path);
  std::string kind;
  for (int parent; file >> kind >> parent;)
  {
    Eigen::Vector3d axis, position, centre;
    Eigen::Matrix3d rotation, inertia;
    double mass, xx, xy, yy, xz, yz, zz;
    for (double & x : axis) file >> x;
    for (int i = 0; i < 9; ++i) file >> rotation(i / 3, i % 3);
    for (double & x : position) file >> x;
    file >> mass;
    for (double & x : centre) file >> x;
    file >> xx >> xy >> yy >> xz >> yz >> zz;
    inertia << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    const std::string name = "joint" + std::to_string(model.njoints);
    const auto id = model.addJoint(parent, joint(kind, axis), pinocchio::SE3(rotation, position), name);
    model.appendBodyToJoint(id, pinocchio::Inertia(mass, centre, inertia), pinocchio::SE3::Identity());
  }
  if (model.njoints < 2) throw std::runtime_error("no joints in " + path);
  return model;
}
