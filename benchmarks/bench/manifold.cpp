// Nanoseconds of some of Pinocchio's algorithms.
// Usage: manifold MODEL, as benchmarks.manifolds writes it: joints with their type, parent, placement and inertia.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/centroidal.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/joint-configuration.hpp>
#include <pinocchio/algorithm/kinematics-derivatives.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea-second-order-derivatives.hpp>

using Eigen::MatrixXd;
using Eigen::VectorXd;
constexpr int STATES = 64, CALLS = 4000, REPEATS = 400;
constexpr double WINDOW = 2e5; // nanoseconds: shorter than what other processes take at a time

static pinocchio::Model read(const char * path)
{
  pinocchio::Model model;
  std::ifstream in(path);
  std::string type, name;
  pinocchio::JointIndex parent;
  while (in >> type >> name >> parent) {
    Eigen::Matrix3d r, i;
    Eigen::Vector3d p, c;
    double m;
    for (int k = 0; k < 9; ++k)
      in >> r(k / 3, k % 3);
    in >> p[0] >> p[1] >> p[2] >> m >> c[0] >> c[1] >> c[2];
    for (int k = 0; k < 9; ++k)
      in >> i(k / 3, k % 3);
    const pinocchio::SE3 there(r, p);
    const auto here = type == "JointModelFreeFlyer"
      ? model.addJoint(parent, pinocchio::JointModelFreeFlyer(), there, name)
      : type == "JointModelRX" ? model.addJoint(parent, pinocchio::JointModelRX(), there, name)
      : type == "JointModelRY" ? model.addJoint(parent, pinocchio::JointModelRY(), there, name)
                               : model.addJoint(parent, pinocchio::JointModelRZ(), there, name);
    model.appendBodyToJoint(here, pinocchio::Inertia(m, c, i));
  }
  return model;
}

int main(int, char ** argv)
{
  const pinocchio::Model model = read(argv[1]);
  pinocchio::Data data(model);
  std::vector<VectorXd> q, to, v;
  for (int k = 0; k < STATES; ++k) {
    VectorXd a = pinocchio::neutral(model), step = VectorXd::Random(model.nv);
    q.push_back(pinocchio::integrate(model, a, step));
    v.push_back(VectorXd::Random(model.nv));
    to.push_back(pinocchio::integrate(model, q.back(), v.back()));
  }
  VectorXd next(model.nq), between(model.nv);
  MatrixXd first(model.nv, model.nv), second(model.nv, model.nv);
  MatrixXd rate = MatrixXd::Zero(6, model.nv);
  pinocchio::Tensor<double, 3> slopes(6, model.nv, model.nv);
  const pinocchio::JointIndex last = model.njoints - 1;
  const auto aligned = pinocchio::LOCAL_WORLD_ALIGNED;
  const std::map<std::string, std::function<void(int)>> calls = {
    {"integrate", [&](int k) { pinocchio::integrate(model, q[k], v[k], next); }},
    {"difference", [&](int k) { pinocchio::difference(model, q[k], to[k], between); }},
    {"integrate_jacobians",
     [&](int k) {
       pinocchio::dIntegrate(model, q[k], v[k], first, pinocchio::ARG0);
       pinocchio::dIntegrate(model, q[k], v[k], second, pinocchio::ARG1);
     }},
    {"centroidal_momentum_rate", [&](int k) { pinocchio::dccrba(model, data, q[k], v[k]); }},
    {"mass_matrix_inverse", [&](int k) { pinocchio::computeMinverse(model, data, q[k]); }},
    {"frame_jacobian_dot_aligned",
     [&](int k) {
       pinocchio::computeJointJacobiansTimeVariation(model, data, q[k], v[k]);
       pinocchio::getJointJacobianTimeVariation(model, data, last, aligned, rate);
     }},
    {"frame_hessian_aligned",
     [&](int k) {
       pinocchio::computeJointKinematicHessians(model, data, q[k]);
       pinocchio::getJointKinematicHessian(model, data, last, aligned, slopes);
     }},
    {"inverse_dynamics_vjp",
     [&](int k) { pinocchio::computeRNEADerivatives(model, data, q[k], v[k], v[k]); }},
    {"forward_dynamics_vjp",
     [&](int k) { pinocchio::computeABADerivatives(model, data, q[k], v[k], v[k]); }},
    {"inverse_dynamics_hessian",
     [&](int k) { pinocchio::ComputeRNEASecondOrderDerivatives(model, data, q[k], v[k], v[k]); }},
  };
  for (const auto & [name, call] : calls) {
    double best = 1e300;
    int count = STATES;
    for (int repeat = 0; repeat < REPEATS; ++repeat) {
      const auto began = std::chrono::steady_clock::now();
      for (int k = 0; k < count; ++k)
        call(k % STATES);
      const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
      best = std::min(best, took.count() / count);
      count = std::max(STATES, std::min(CALLS, static_cast<int>(WINDOW / best)));
    }
    std::printf("%s %.0f\n", name.c_str(), best);
  }
  return 0;
}
