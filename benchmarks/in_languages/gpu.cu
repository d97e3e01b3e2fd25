/* States a second of a launch on a GPU, and the bytes a second that it copies: REAL, NUMBERS and CALL
 * are of case.h. Status 3: no GPU. */
#include <cstdio>
#include <utility>
#include <cuda_runtime.h>
#include "case.h"

template <class F>
static double seconds(F launch)
{
    cudaEvent_t start, end;
    cudaEventCreate(&start);
    cudaEventCreate(&end);
    float least = 1e30f;
    for (int round = 0; round < 30; ++round) {
        float took = 0.0f;
        cudaEventRecord(start);
        launch();
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        cudaEventElapsedTime(&took, start, end);
        least = took < least ? took : least;
    }
    return double(least) / 1e3;
}

__global__ void filled(size_t size, REAL *x)
{
    const size_t k = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (k < size)
        x[k] = REAL(k % 31) / REAL(10) - REAL(1.5);
}

int main()
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0)
        return 3;
    cudaDeviceProp told;
    cudaGetDeviceProperties(&told, 0);
    const size_t n = size_t(1) << 22, size = n * NUMBERS;
    REAL *x = nullptr, *y = nullptr;
    if (cudaMalloc(&x, size * sizeof(REAL)) != cudaSuccess || cudaMalloc(&y, size * sizeof(REAL)) != cudaSuccess)
        return 4;
    filled<<<unsigned((size + 255) / 256), 256>>>(size, x);
    int status = 0;
    const double took = seconds([&] { status |= CALL; });
    const double copied = seconds([&] { cudaMemcpyAsync(y, x, size * sizeof(REAL), cudaMemcpyDeviceToDevice); });
    if (status != 0 || cudaDeviceSynchronize() != cudaSuccess)
        return 5;
    std::printf("%.4e %.4e %s\n", double(n) / took, 2.0 * double(size * sizeof(REAL)) / copied, told.name);
    return 0;
}
