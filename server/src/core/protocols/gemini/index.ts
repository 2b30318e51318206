/** Google's Gemini protocol (docs/protocols.md#gemini). */
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './request/decode-request.ts'
import { decodeResponse } from './answer/decode-response.ts'
import { encodeRequest } from './request/encode-request.ts'
import { encodeResponse } from './answer/encode-response.ts'
import { decodeError, encodeError } from './error.ts'
import { needsInline } from './request/needs-inline.ts'
import { streamDecoder } from './answer/stream-decoder.ts'
import { streamEncoder } from './answer/stream-encoder.ts'

export const geminiProtocol: Protocol = {
  id: 'gemini',
  modelPlace: 'path',
  keyHeader: { name: 'x-goog-api-key', at: 'both-addresses' },
  forwardedHeaders: ['x-goog-api-client'],
  encodeTokenCount: (tokens) => ({ totalTokens: tokens }),
  keepsAnswers: false,
  decodeRequest,
  encodeRequest,
  needsInline,
  decodeResponse,
  encodeResponse,
  decodeError,
  encodeError,
  streamDecoder,
  streamEncoder,
}
