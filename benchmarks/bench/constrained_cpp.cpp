// Pinocchio's constrained dynamics behind a plain C interface, for benchmarks/loop_times.py.
#include "model.hpp"

#include <pinocchio/algorithm/constrained-dynamics.hpp>

using namespace pinocchio;
using In = Eigen::Map<const Eigen::VectorXd>;

static Plain model;
static Plain::Data data;
static PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(RigidConstraintModel) constraints;
static PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(RigidConstraintData) workspaces;
static ProximalSettings settings;

// A model, and a line for each loop: joint and point, joint and point.
extern "C" int pin_load(const char * path, const char * loops)
{
  try
  {
    model = read(path);
  }
  catch (const std::exception &)
  {
    return 1;
  }
  constraints.clear();
  workspaces.clear();
  std::ifstream file(loops);
  for (JointIndex a, b; file >> a;)
  {
    SE3 first = SE3::Identity(), second = SE3::Identity();
    for (double & x : first.translation()) file >> x;
    file >> b;
    for (double & x : second.translation()) file >> x;
    constraints.push_back(RigidConstraintModel(CONTACT_3D, model, a, first, b, second, LOCAL));
  }
  for (const auto & constraint : constraints) workspaces.push_back(RigidConstraintData(constraint));
  data = Plain::Data(model);
  initConstraintDynamics(model, data, constraints, workspaces);
  return 0;
}

// A positive mu regularises rows that depend on others.
extern "C" void pin_set(double mu, int iterations)
{
  settings = ProximalSettings(1e-14, mu, iterations);
}

extern "C" void pin_constrained(const double * x, double *)
{
  const In q(x, model.nq), v(x + model.nq, model.nv), tau(x + model.nq + model.nv, model.nv);
  constraintDynamics(model, data, q, v, tau, constraints, workspaces, settings);
}

// The accelerations of the last call.
extern "C" void pin_read(double * out)
{
  Eigen::Map<Eigen::VectorXd>(out, model.nv) = data.ddq;
}
