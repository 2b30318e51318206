/** Uploaded files, returned as downloads: never displayed by a browser, never cached. */
import { Readable } from 'node:stream'
import * as z from 'zod'
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import type { ApiContext } from '../api-context.ts'
import type { VerificationDocument } from '../../../storage/stores/customers.ts'
import type { RawAnswer, RouteReply } from '../route-types.ts'

/** The types that `document-form.ts` detects. */
export const DOCUMENT_ANSWER: RawAnswer = {
  contentType: 'application/pdf',
  otherTypes: ['image/jpeg', 'image/png', 'image/webp'],
  schema: z.string(),
}

export async function sendDocument(
  { blobs }: Pick<ApiContext, 'blobs'>,
  document: VerificationDocument,
  { reply, method }: { readonly reply: RouteReply; readonly method: string },
): Promise<Readable | string> {
  const found = await blobs.find(document.blobKey)
  if (found === undefined) throw new GatewayError(40403)
  // The type was detected from the bytes at upload (`document-form.ts`), not taken from the sender.
  reply.type(document.mediaType)
  reply.header('content-length', String(found.bytes))
  reply.header('content-disposition', attachment(document.name))
  reply.header('x-content-type-options', 'nosniff')
  reply.header('content-security-policy', "default-src 'none'; sandbox")
  if (method === 'HEAD') return ''
  const blob = await blobs.open(document.blobKey)
  if (blob === undefined) throw new GatewayError(40403)
  return Readable.from(blob.body, { objectMode: false })
}

/** The name in ASCII for old clients, and unchanged (RFC 6266 §4.3). */
function attachment(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9._-]/g, '_')
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`
}
