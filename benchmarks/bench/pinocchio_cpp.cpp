// Pinocchio's C++ algorithms behind one plain C interface: pin_load, then the functions of the table by name.
// Each takes its inputs one after the other; results stay in `data`, where Pinocchio's users find them. Only the
// check copies them out (pin_read), row-major.
#include "model.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/regressor.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using namespace pinocchio;
using Model = Plain;
using Data = DataTpl<double, 0, Joints>;
using In = Eigen::Map<const Eigen::VectorXd>;
using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

static ::Model model;
static ::Data data;

struct State
{
  In q, v, a;
  explicit State(const double * x) : q(x, model.nq), v(x + model.nq, model.nv), a(x + model.nq + model.nv, model.nv) {}
};

template<class Matrix>
static double * put(double * out, const Matrix & from)
{
  Eigen::Map<Rows>(out, from.rows(), from.cols()) = from;
  return out + from.size();
}

static Eigen::MatrixXd whole(const Eigen::MatrixXd & upper)
{
  return Eigen::MatrixXd(upper.selfadjointView<Eigen::Upper>());
}

#define ENTRY(NAME, CALL, READ)                                                                                        \
  extern "C" void pin_##NAME(const double * x, double *)                                                               \
  {                                                                                                                    \
    const State s(x);                                                                                                  \
    CALL;                                                                                                              \
  }                                                                                                                    \
  extern "C" void pin_read_##NAME(double * out)                                                                        \
  {                                                                                                                    \
    READ;                                                                                                              \
  }

ENTRY(inverse_dynamics, rnea(model, data, s.q, s.v, s.a), put(out, data.tau))
ENTRY(bias, nonLinearEffects(model, data, s.q, s.v), put(out, data.nle))
ENTRY(gravity, computeGeneralizedGravity(model, data, s.q), put(out, data.g))
ENTRY(mass_matrix, crba(model, data, s.q, Convention::WORLD), put(out, whole(data.M)))
ENTRY(mass_matrix_local, crba(model, data, s.q, Convention::LOCAL), put(out, whole(data.M)))
ENTRY(coriolis_matrix, computeCoriolisMatrix(model, data, s.q, s.v), put(out, data.C))
ENTRY(forward_dynamics, aba(model, data, s.q, s.v, s.a, Convention::WORLD), put(out, data.ddq))
ENTRY(forward_dynamics_local, aba(model, data, s.q, s.v, s.a, Convention::LOCAL), put(out, data.ddq))
ENTRY(regressor, computeJointTorqueRegressor(model, data, s.q, s.v, s.a), put(out, data.jointTorqueRegressor))
ENTRY(inverse_dynamics_derivatives, computeRNEADerivatives(model, data, s.q, s.v, s.a),
      put(put(put(out, data.dtau_dq), data.dtau_dv), whole(data.M)))
ENTRY(forward_dynamics_derivatives, computeABADerivatives(model, data, s.q, s.v, s.a),
      put(put(put(out, data.ddq_dq), data.ddq_dv), whole(data.Minv)))

extern "C" int pin_load(const char * path)
{
  try
  {
    model = read(path);
    data = ::Data(model);
  }
  catch (const std::exception &)
  {
    return 1;
  }
  return 0;
}
