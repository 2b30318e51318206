/** What both generations of Kling accept. */
import type { ForwardModelId } from '../../core/ids.ts'
import type { VideoRequest } from '../../core/video/request.ts'
import { ratioOfSize, type TierWords, tierWordOf } from '../../core/video/size.ts'

const RATIOS = ['16:9', '9:16', '1:1']

/** Reference-driven models: seven images, or four with a video. */
export function isOmni(model: ForwardModelId): boolean {
  return /omni|-video-o\d/.test(model)
}

export function ratioFor(request: VideoRequest): string | undefined {
  return request.size === undefined ? undefined : ratioOfSize(request.size, RATIOS)
}

/**
 * The resolution for an order without one. 2.6 has sound only at full resolution, so requesting sound raises a
 * resolution that was only implied (docs/protocols.md#video-3).
 */
export function stepFor(request: VideoRequest, model: ForwardModelId, words: TierWords): string | undefined {
  if (request.generateAudio === true && /2[.-]6/.test(model)) return words['1080p']
  return request.size === undefined ? undefined : tierWordOf(request.size, words)
}

/** Models older than 2.6 are silent. */
export function hasSound(model: ForwardModelId): boolean {
  return /2[.-]6|kling-v?[3-9]|omni|-video-o\d/.test(model)
}

export function picturesMax(request: VideoRequest): number {
  return request.referenceVideos.length > 0 ? 4 : 7
}
