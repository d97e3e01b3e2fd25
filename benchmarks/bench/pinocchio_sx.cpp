// Pinocchio's algorithms over casadi::SX: one file NAME.casadi a quantity, for Python to count and to make C of.
// Usage: pinocchio_sx MODEL FOLDER NAME...
#include <pinocchio/autodiff/casadi.hpp>

#include "model.hpp"

#include <functional>
#include <iostream>
#include <map>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using casadi::SX;
using Model = pinocchio::ModelTpl<SX, 0, Joints>;
using Data = pinocchio::DataTpl<SX, 0, Joints>;
using Vector = Model::ConfigVectorType;
using Matrix = Eigen::Matrix<SX, Eigen::Dynamic, Eigen::Dynamic>;
using Outputs = std::vector<SX>;
constexpr auto WORLD = pinocchio::Convention::WORLD, LOCAL = pinocchio::Convention::LOCAL;

template<class M>
static SX sx(const M & from)
{
  SX out(from.rows(), from.cols());
  for (Eigen::Index j = 0; j < from.cols(); ++j)
    for (Eigen::Index i = 0; i < from.rows(); ++i)
      out(i, j) = from(i, j);
  return out;
}

template<class M>
static SX whole(const M & upper)
{
  SX out(upper.rows(), upper.cols());
  for (Eigen::Index j = 0; j < upper.cols(); ++j)
    for (Eigen::Index i = 0; i <= j; ++i)
      out(i, j) = out(j, i) = upper(i, j);
  return out;
}

static Vector symbols(const SX & from)
{
  Vector out(from.size1());
  for (casadi_int i = 0; i < from.size1(); ++i)
    out(i) = from(i);
  return out;
}

using Algorithm = std::function<Outputs(const Model &, Data &, const Vector &, const Vector &, const Vector &)>;
#define ALGORITHM(CALL, ...)                                                                                           \
  [](const Model & m, Data & d, const Vector & q, const Vector & v, const Vector & a) {                                \
    (void)v, (void)a;                                                                                                  \
    CALL;                                                                                                              \
    return Outputs{__VA_ARGS__};                                                                                       \
  }

static const std::map<std::string, Algorithm> ALGORITHMS = {
  {"inverse_dynamics", ALGORITHM(pinocchio::rnea(m, d, q, v, a), sx(d.tau))},
  {"bias", ALGORITHM(pinocchio::nonLinearEffects(m, d, q, v), sx(d.nle))},
  {"gravity", ALGORITHM(pinocchio::computeGeneralizedGravity(m, d, q), sx(d.g))},
  {"mass_matrix", ALGORITHM(pinocchio::crba(m, d, q, WORLD), whole(d.M))},
  {"mass_matrix_local", ALGORITHM(pinocchio::crba(m, d, q, LOCAL), whole(d.M))},
  {"coriolis_matrix", ALGORITHM(pinocchio::computeCoriolisMatrix(m, d, q, v), sx(d.C))},
  {"forward_dynamics", ALGORITHM(pinocchio::aba(m, d, q, v, a, WORLD), sx(d.ddq))},
  {"forward_dynamics_local", ALGORITHM(pinocchio::aba(m, d, q, v, a, LOCAL), sx(d.ddq))},
  {"regressor", ALGORITHM(pinocchio::computeJointTorqueRegressor(m, d, q, v, a), sx(d.jointTorqueRegressor))},
  {"inverse_dynamics_derivatives",
   ALGORITHM(pinocchio::computeRNEADerivatives(m, d, q, v, a), sx(d.dtau_dq), sx(d.dtau_dv), whole(d.M))},
  {"forward_dynamics_derivatives",
   ALGORITHM(pinocchio::computeABADerivatives(m, d, q, v, a), sx(d.ddq_dq), sx(d.ddq_dv), whole(d.Minv))},
};

int main(int count, char ** words)
{
  const Model model = read(words[1]).cast<SX>();
  const SX q = SX::sym("q", model.nq), v = SX::sym("v", model.nv), a = SX::sym("a", model.nv);
  for (int i = 3; i < count; ++i)
  {
    Data data(model);
    const std::string name = words[i];
    const Outputs out = ALGORITHMS.at(name)(model, data, symbols(q), symbols(v), symbols(a));
    casadi::Function(name, {q, v, a}, out).save(std::string(words[2]) + "/" + name + ".casadi");
  }
}
