/** Chat completions, both ways (docs/reference/contract.md#2.3, #4.1, #6.1; docs/protocols.md#chat). */
import { readErrorBody } from '../error-body.ts'
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './request/decode-request.ts'
import { decodeResponse } from './answer/decode-response.ts'
import { encodeRequest } from './request/encode-request.ts'
import { encodeResponse } from './answer/encode-response.ts'
import { encodeError } from './error.ts'
import { needsInline } from './request/needs-inline.ts'
import { ChatStreamDecoder } from './answer/stream-decoder.ts'
import { ChatStreamEncoder } from './answer/stream-encoder.ts'

export const chatProtocol: Protocol = {
  id: 'chat',
  modelPlace: 'body',
  forwardedHeaders: ['openai-beta'],
  encodeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  keepsAnswers: false,
  decodeRequest,
  encodeRequest,
  needsInline,
  decodeResponse,
  encodeResponse,
  decodeError: readErrorBody,
  encodeError,
  streamDecoder: () => new ChatStreamDecoder(),
  streamEncoder: (context) => new ChatStreamEncoder(context),
}
