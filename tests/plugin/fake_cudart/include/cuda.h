/* SPDX-License-Identifier: Apache-2.0 */

/* As much of the CUDA driver's interface as the CUDA plugin names, for machines without its headers. Values are CUDA's own. */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

typedef enum cudaError_enum { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_READY = 600, CUDA_ERROR_ILLEGAL_ADDRESS = 700 } CUresult;
typedef int CUdevice;
typedef struct CUctx_st* CUcontext;
typedef struct CUevent_st* CUevent;
typedef struct CUstream_st* CUstream;

#endif
