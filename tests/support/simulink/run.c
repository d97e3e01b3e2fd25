/* Runs a block for one step, as Simulink does: run FUNCTION reads its inputs as doubles, port by port in column order,
 * and writes for each output its number of dimensions, its three sizes and its entries. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "simstruc.h"

extern const struct {
    void (*sizes)(SimStruct *S);
    void (*times)(SimStruct *S);
    void (*start)(SimStruct *S);
    void (*outputs)(SimStruct *S, int_T tid);
    void (*terminate)(SimStruct *S);
} methods;

int mxIsChar(const mxArray *a) { return a->text != NULL; }
int mxGetString(const mxArray *a, char *text, size_t size)
{
    if (strlen(a->text) >= size)
        return 1;
    strcpy(text, a->text);
    return 0;
}
void ssSetNumSFcnParams(SimStruct *S, int_T n) { S->parameters = n; }
int_T ssGetNumSFcnParams(SimStruct *S) { return S->parameters; }
int_T ssGetSFcnParamsCount(SimStruct *S) { (void)S; return 1; }
const mxArray *ssGetSFcnParam(SimStruct *S, int_T k) { (void)k; return &S->parameter; }
void ssSetSFcnParamTunable(SimStruct *S, int_T k, int_T tunable) { (void)k; S->tunable = tunable; }
void ssSetErrorStatus(SimStruct *S, const char *text) { S->error = text; }
void ssSetNumContStates(SimStruct *S, int_T n) { S->continuous = n; }
void ssSetNumDiscStates(SimStruct *S, int_T n) { S->discrete = n; }
void ssAllowSignalsWithMoreThan2D(SimStruct *S) { S->more_than_2d = 1; }
int_T ssSetNumInputPorts(SimStruct *S, int_T n) { S->inputs = n; return n <= 16; }
int_T ssSetNumOutputPorts(SimStruct *S, int_T n) { S->outputs = n; return n <= 16; }
static int_T sized(Port *port, int dimensions, int a, int b, int c)
{
    const Port made = {a * b * c, dimensions, {a, b, c}, port->type, port->feedthrough, port->contiguous, NULL};
    *port = made;
    return 1;
}
int_T ssSetInputPortVectorDimension(SimStruct *S, int_T p, int_T w) { return sized(&S->input[p], 1, w, 1, 1); }
int_T ssSetInputPortMatrixDimensions(SimStruct *S, int_T p, int_T m, int_T n) { return sized(&S->input[p], 2, m, n, 1); }
int_T ssSetOutputPortVectorDimension(SimStruct *S, int_T p, int_T w) { return sized(&S->output[p], 1, w, 1, 1); }
int_T ssSetOutputPortMatrixDimensions(SimStruct *S, int_T p, int_T m, int_T n) { return sized(&S->output[p], 2, m, n, 1); }
void ssSetOutputPortWidth(SimStruct *S, int_T p, int_T w) { sized(&S->output[p], 1, w, 1, 1); }
int_T ssSetOutputPortDimensionInfo(SimStruct *S, int_T p, const DimsInfo_T *info)
{
    const int *d = info->dims;
    return S->more_than_2d && info->numDims == 3 && info->width == d[0] * d[1] * d[2] &&
           sized(&S->output[p], 3, d[0], d[1], d[2]);
}
int_T ssSetInputPortDataType(SimStruct *S, int_T p, int_T type) { S->input[p].type = type; return 1; }
int_T ssSetOutputPortDataType(SimStruct *S, int_T p, int_T type) { S->output[p].type = type; return 1; }
void ssSetInputPortDirectFeedThrough(SimStruct *S, int_T p, int_T flag) { S->input[p].feedthrough = flag; }
void ssSetInputPortRequiredContiguous(SimStruct *S, int_T p, int_T flag) { S->input[p].contiguous = flag; }
int_T ssSetNumSampleTimes(SimStruct *S, int_T n) { S->times = n; return 1; }
int_T ssSetNumDWork(SimStruct *S, int_T n) { S->works = n; return n == 1; }
void ssSetDWorkWidth(SimStruct *S, int_T k, int_T width) { (void)k; S->work_width = width; }
void ssSetDWorkDataType(SimStruct *S, int_T k, int_T type) { (void)k; S->work_type = type; }
void ssSetOperatingPointCompliance(SimStruct *S, int_T setting) { S->compliance = setting; }
void ssSetOptions(SimStruct *S, uint_T options) { S->options = options; }
void ssSetSampleTime(SimStruct *S, int_T k, real_T time) { (void)k; S->time = time; }
void ssSetOffsetTime(SimStruct *S, int_T k, real_T time) { (void)k; S->offset = time; }
void ssSetModelReferenceSampleTimeDefaultInheritance(SimStruct *S) { S->inheritance = 1; }
void ssSetUserData(SimStruct *S, void *data) { S->user = data; }
void *ssGetUserData(SimStruct *S) { return S->user; }
void *ssGetDWork(SimStruct *S, int_T k) { return k == 0 ? S->work : NULL; }
const void *ssGetInputPortSignal(SimStruct *S, int_T p) { return S->input[p].contiguous ? S->input[p].signal : NULL; }
void *ssGetOutputPortSignal(SimStruct *S, int_T p) { return S->output[p].signal; }

static size_t bytes(int type) { return type == SS_SINGLE ? sizeof(float) : sizeof(double); }

static void read_port(Port *port)
{
    int k;
    port->signal = calloc((size_t)port->width, bytes(port->type));
    for (k = 0; k < port->width; ++k) {
        double x;
        if (fread(&x, sizeof x, 1, stdin) != 1 || !port->feedthrough)
            exit(4);
        if (port->type == SS_SINGLE)
            ((float *)port->signal)[k] = (float)x;
        else
            ((double *)port->signal)[k] = x;
    }
}

static void write_port(const Port *port)
{
    double x = port->dimensions;
    int k;
    fwrite(&x, sizeof x, 1, stdout);
    for (k = 0; k < 3; ++k) {
        x = port->sizes[k];
        fwrite(&x, sizeof x, 1, stdout);
    }
    for (k = 0; k < port->width; ++k) {
        x = port->type == SS_SINGLE ? ((float *)port->signal)[k] : ((double *)port->signal)[k];
        fwrite(&x, sizeof x, 1, stdout);
    }
}

int main(int count, char **words)
{
    static SimStruct S;
    int k;
    S.parameter.text = count == 2 ? words[1] : NULL;
    methods.sizes(&S);
    if (S.error != NULL) {
        fprintf(stderr, "%s\n", S.error);
        return 3;
    }
    methods.times(&S);
    S.work = calloc((size_t)S.work_width + 1, bytes(S.work_type));
    for (k = 0; k < S.inputs; ++k)
        read_port(&S.input[k]);
    for (k = 0; k < S.outputs; ++k)
        S.output[k].signal = calloc((size_t)S.output[k].width, bytes(S.output[k].type));
    if (S.continuous || S.discrete || S.times != 1 || S.time != INHERITED_SAMPLE_TIME || !S.inheritance)
        return 5;
    methods.start(&S);
    methods.outputs(&S, 0);
    methods.outputs(&S, 0); /* a second step finds the work vector as the first one left it */
    for (k = 0; k < S.outputs; ++k)
        write_port(&S.output[k]);
    methods.terminate(&S);
    return 0;
}
