/**
 * Links of ours to stored bytes: signed with a key derived from the instance's secret, good until they expire, and served
 * without an API key, so that players, browsers and vendors can follow them
 * (docs/reference/contract.md#D-video-16, #D-video-17).
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import { FILE_PATH } from '../../kinds/video.ts'

export interface LinkSigner {
  /** An absolute address of the blob, good until `expiresAt` (epoch ms). */
  sign(blob: string, expiresAt: number): string
  /** Whether such a link was made here and still holds. */
  holds(blob: string, query: URLSearchParams, at: number): boolean
}

export interface LinkSettings {
  /** The instance's secret key: the same on every instance. */
  readonly secretKey: Uint8Array
  /** How clients reach the main address, without a slash at its end. */
  readonly publicUrl: () => string
}

const MS_PER_SECOND = 1_000

export function createLinkSigner({ secretKey, publicUrl }: LinkSettings): LinkSigner {
  const key = createHmac('sha256', secretKey).update('links to stored bytes, 1').digest()
  const signatureOf = (blob: string, expires: string): Buffer =>
    createHmac('sha256', key).update(`${blob}\n${expires}`).digest()
  return {
    sign(blob, expiresAt) {
      const expires = String(Math.floor(expiresAt / MS_PER_SECOND))
      const signature = signatureOf(blob, expires).toString('base64url')
      return `${publicUrl()}${FILE_PATH}${blob}?expires=${expires}&signature=${signature}`
    },
    holds(blob, query, at) {
      const expires = query.get('expires') ?? ''
      const given = Buffer.from(query.get('signature') ?? '', 'base64url')
      const right = signatureOf(blob, expires)
      const genuine = given.byteLength === right.byteLength && timingSafeEqual(given, right)
      return genuine && Number(expires) * MS_PER_SECOND > at
    },
  }
}
