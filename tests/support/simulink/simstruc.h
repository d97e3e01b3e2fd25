/* As much of Simulink's interface of S-functions as ours use, by the signatures of its documentation: what a block
 * says of itself is kept in a struct, and run.c calls it as Simulink does. Not Simulink's header. */
#ifndef SIMSTRUC_H
#define SIMSTRUC_H

#include <stddef.h>

typedef int int_T;
typedef unsigned int uint_T;
typedef double real_T;

typedef struct {
    const char *text;
} mxArray;

typedef struct {
    int width;
    int numDims;
    int *dims;
} DimsInfo_T;
#define DYNAMICALLY_SIZED (-1)
#define DECL_AND_INIT_DIMSINFO(name) DimsInfo_T name = {DYNAMICALLY_SIZED, DYNAMICALLY_SIZED, NULL}

enum { SS_DOUBLE = 0, SS_SINGLE = 1 };
enum { SS_PRM_NOT_TUNABLE = 0 };
enum { USE_DEFAULT_OPERATING_POINT = 1 };
#define SS_OPTION_EXCEPTION_FREE_CODE 1U
#define INHERITED_SAMPLE_TIME (-1.0)
#define UNUSED_ARG(argument) (void)(argument)

typedef struct {
    int width;
    int dimensions;
    int sizes[3];
    int type;
    int feedthrough;
    int contiguous;
    void *signal;
} Port;

typedef struct {
    mxArray parameter;
    int parameters;
    int tunable;
    int inputs;
    int outputs;
    int more_than_2d;
    Port input[16];
    Port output[16];
    int continuous;
    int discrete;
    int works;
    int work_width;
    int work_type;
    void *work;
    int times;
    real_T time;
    real_T offset;
    int inheritance;
    int compliance;
    uint_T options;
    void *user;
    const char *error;
} SimStruct;

int mxIsChar(const mxArray *a);
int mxGetString(const mxArray *a, char *text, size_t size);
void ssSetNumSFcnParams(SimStruct *S, int_T n);
int_T ssGetNumSFcnParams(SimStruct *S);
int_T ssGetSFcnParamsCount(SimStruct *S);
const mxArray *ssGetSFcnParam(SimStruct *S, int_T k);
void ssSetSFcnParamTunable(SimStruct *S, int_T k, int_T tunable);
void ssSetErrorStatus(SimStruct *S, const char *text);
void ssSetNumContStates(SimStruct *S, int_T n);
void ssSetNumDiscStates(SimStruct *S, int_T n);
void ssAllowSignalsWithMoreThan2D(SimStruct *S);
int_T ssSetNumInputPorts(SimStruct *S, int_T n);
int_T ssSetNumOutputPorts(SimStruct *S, int_T n);
int_T ssSetInputPortVectorDimension(SimStruct *S, int_T port, int_T w);
int_T ssSetInputPortMatrixDimensions(SimStruct *S, int_T port, int_T m, int_T n);
int_T ssSetOutputPortVectorDimension(SimStruct *S, int_T port, int_T w);
int_T ssSetOutputPortMatrixDimensions(SimStruct *S, int_T port, int_T m, int_T n);
int_T ssSetOutputPortDimensionInfo(SimStruct *S, int_T port, const DimsInfo_T *info);
void ssSetOutputPortWidth(SimStruct *S, int_T port, int_T width);
int_T ssSetInputPortDataType(SimStruct *S, int_T port, int_T type);
int_T ssSetOutputPortDataType(SimStruct *S, int_T port, int_T type);
void ssSetInputPortDirectFeedThrough(SimStruct *S, int_T port, int_T flag);
void ssSetInputPortRequiredContiguous(SimStruct *S, int_T port, int_T flag);
int_T ssSetNumSampleTimes(SimStruct *S, int_T n);
int_T ssSetNumDWork(SimStruct *S, int_T n);
void ssSetDWorkWidth(SimStruct *S, int_T k, int_T width);
void ssSetDWorkDataType(SimStruct *S, int_T k, int_T type);
void ssSetOperatingPointCompliance(SimStruct *S, int_T setting);
void ssSetOptions(SimStruct *S, uint_T options);
void ssSetSampleTime(SimStruct *S, int_T k, real_T time);
void ssSetOffsetTime(SimStruct *S, int_T k, real_T time);
void ssSetModelReferenceSampleTimeDefaultInheritance(SimStruct *S);
void ssSetUserData(SimStruct *S, void *data);
void *ssGetUserData(SimStruct *S);
void *ssGetDWork(SimStruct *S, int_T k);
const void *ssGetInputPortSignal(SimStruct *S, int_T port);
void *ssGetOutputPortSignal(SimStruct *S, int_T port);

#endif
