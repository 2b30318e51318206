/** The responses protocol, both ways (docs/reference/contract.md#2.4, #4.2, #6.2; docs/protocols.md#responses). */
import { readErrorBody } from '../error-body.ts'
import type { Protocol } from '../protocol.ts'
import { decodeRequest } from './request/decode-request.ts'
import { decodeResponse } from './answer/decode-response.ts'
import { encodeRequest } from './request/encode-request.ts'
import { encodeResponse } from './answer/encode-response.ts'
import { encodeError } from './error.ts'
import { needsInline } from './request/needs-inline.ts'
import { ResponsesStreamDecoder } from './answer/stream-decoder.ts'
import { ResponsesStreamEncoder } from './answer/stream-encoder.ts'

export const responsesProtocol: Protocol = {
  id: 'responses',
  modelPlace: 'body',
  forwardedHeaders: ['openai-beta'],
  encodeTokenCount: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
  keepsAnswers: true,
  decodeRequest,
  encodeRequest,
  needsInline,
  decodeResponse,
  encodeResponse,
  decodeError: readErrorBody,
  encodeError,
  streamDecoder: () => new ResponsesStreamDecoder(),
  streamEncoder: (context) => new ResponsesStreamEncoder(context),
}
