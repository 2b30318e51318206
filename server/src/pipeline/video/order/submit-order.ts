import type { VideoMedia, VideoRequest } from '../../../core/video/request.ts'
import type { VideoSubmit } from '../../../providers/video.ts'
import { isNear } from '../../lanes/threads/conversions.ts'
import type { Submitted } from '../../lanes/threads/work.ts'
import type { Pipeline } from '../../context.ts'
import type { ReservedVideo } from '../video-call.ts'
import type { VideoVendor } from '../task/video-vendor.ts'

/** The request a vendor takes an order as; one with large pictures is written in a thread. Throws `GatewayError`. */
export async function submitOrder(
  { conversions }: Pick<Pipeline, 'conversions'>,
  { account }: Pick<ReservedVideo, 'account'>,
  {
    vendor,
    input,
  }: { readonly vendor: Pick<VideoVendor, 'vendor' | 'dialect'>; readonly input: VideoSubmit },
): Promise<Submitted> {
  const size = { bytes: mediaBytes(input.request), values: 0 }
  if (isNear(size)) {
    await conversions.turn(size)
    return { ...vendor.dialect.submit(input), kind: 'submitted' }
  }
  const { kind } = vendor.vendor
  const submitted = await conversions.run(
    { kind: 'submit', vendorKind: kind, input },
    { accountId: account.id },
  )
  if (submitted.kind !== 'submitted') throw new Error(`an order was written as ${submitted.kind}`)
  return submitted
}

function mediaBytes({ firstFrame, lastFrame, referenceImages }: VideoRequest): number {
  return [firstFrame, lastFrame, ...referenceImages].reduce((sum, media) => sum + bytesOf(media), 0)
}

function bytesOf(media: VideoMedia | undefined): number {
  return media?.kind === 'bytes' ? media.bytes.byteLength : 0
}
