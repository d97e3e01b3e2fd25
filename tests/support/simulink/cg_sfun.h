/* What stands at the end of an S-function here: the functions that run.c calls. */
#include "simstruc.h"

static void mdlInitializeSizes(SimStruct *S);

const struct {
    void (*sizes)(SimStruct *S);
    void (*times)(SimStruct *S);
    void (*start)(SimStruct *S);
    void (*outputs)(SimStruct *S, int_T tid);
    void (*terminate)(SimStruct *S);
} methods = {mdlInitializeSizes, mdlInitializeSampleTimes, mdlStart, mdlOutputs, mdlTerminate};
