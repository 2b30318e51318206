import { isJsonObject } from '../../core/json.ts'
import {
  classifyFailure,
  type FailureClass,
  type FailureKind,
  type UpstreamFailure,
  withHint,
} from '../../core/routing/failure.ts'
import { chatDialect } from '../dialects/chat.ts'
import { besideMain, formMessagesWithoutCount, messagesDialect } from '../dialects/messages.ts'
import { responsesDialect } from '../dialects/responses.ts'
import type { Provider } from '../provider.ts'

/** Mainland address; the international one is `https://api.minimax.io/v1`. */
export const minimax: Provider = {
  kind: 'minimax',
  name: 'MiniMax',
  defaultBaseUrl: 'https://api.minimaxi.com/v1',
  publicFields: [],
  dialects: {
    chat: chatDialect({
      capabilities: () => ({
        temperatureMax: 1,
        penalties: false,
        seed: false,
        logprobs: false,
        candidates: false,
        stopMax: 0,
        parallelToolCalls: false,
        jsonSchema: false,
        images: 'none',
        user: false,
      }),
      classify,
    }),
    responses: responsesDialect({ classify }),
    messages: messagesDialect({
      auth: { kind: 'bearer' },
      form: (input) =>
        formMessagesWithoutCount(besideMain(input.baseUrl, { main: '/v1', messages: '/anthropic' }), input),
      capabilities: () => ({
        reasoning: 'toggle',
        efforts: ['none', 'high'],
        images: 'none',
        stopMax: 0,
        topK: false,
      }),
      classify,
    }),
  },
}

/** `base_resp.status_code`, which may come with status 200. */
const CODES: Readonly<Record<number, FailureKind>> = {
  1000: 'overloaded',
  1001: 'overloaded',
  1002: 'rate-limited',
  1004: 'auth',
  1008: 'quota',
  1024: 'overloaded',
  1026: 'refused-content',
  1027: 'refused-content',
  1033: 'overloaded',
  1039: 'rate-limited',
  1041: 'rate-limited',
  1042: 'request',
  1043: 'request',
  2013: 'request',
  2049: 'auth',
  2056: 'quota',
}

function classify(failure: UpstreamFailure): FailureClass {
  const base = isJsonObject(failure.body) ? failure.body['base_resp'] : undefined
  const code = isJsonObject(base) ? base['status_code'] : undefined
  const kind = typeof code === 'number' ? CODES[code] : undefined
  return kind === undefined ? classifyFailure(failure) : withHint(kind, failure)
}
