/** An image in the forms that vendors accept. */
import { encodeBase64Bytes } from '../../core/canonical/media/base64.ts'
import { dataUrl } from '../../core/canonical/media/data-url.ts'
import type { VideoMedia } from '../../core/video/request.ts'

/** An address: a public one, or a `data:` address of the bytes. */
export function addressOf(media: VideoMedia): string {
  switch (media.kind) {
    case 'url':
      return media.url
    case 'bytes':
      // Vendors compare the type case-sensitively: `image/PNG` is refused.
      return dataUrl(media.mediaType.toLowerCase(), encodeBase64Bytes(media.bytes))
  }
}

/** A public address, or bare base64 without a `data:` prefix. */
export function addressOrBase64(media: VideoMedia): string {
  return media.kind === 'url' ? media.url : encodeBase64Bytes(media.bytes)
}
