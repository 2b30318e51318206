import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { Model } from '../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { Estimate } from '../../core/ledger/operations.ts'
import { usageReaders } from '../../core/metering/counters.ts'
import { ONE_CALL } from '../../core/metering/quantities.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { answerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import { estimateInput } from '../stages/estimate.ts'
import type { EndpointKind, EstimatedCall } from './kind.ts'
import { textIn } from './read-input.ts'

/**
 * Tokens of sound per byte of text: twenty tokens per second, in which English has fifteen characters and Chinese five of
 * three bytes.
 */
const TOKENS_PER_BYTE = 1.5
/** At a quarter of the speed. */
const TOKENS_PER_BYTE_WORST = 6

/** Text to speech. The answer is sound, passed on as received; its text is charged, or the vendor's tokens. */
export const SPEECH: EndpointKind = {
  id: 'speech',
  flow: 'exchange',
  paths: [{ methods: ['POST'], path: '/v1/audio/speech', protocol: 'speech' }],
  chains: ['speech'],
  counts: ({ pieces = ONE_CALL }) => ({
    requests: 1,
    images: 0,
    videos: 0,
    videoSeconds: 0,
    characters: pieces.characters,
  }),
  estimate,
  form: {
    id: 'speech',
    requests: requestForm({ model: 'model', user: 'user', input: 'spoken' }),
    answers: answerForm(
      {
        stream: {
          fields: { type: 'type', usage: 'usage', error: 'error', audio: 'begun' },
          events: {
            'speech.audio.delta': 'content',
            'speech.audio.done': 'terminator',
            error: 'failure',
          },
          contentPrefix: undefined,
          quietBlocks: [],
          done: 'none',
          finishTerminates: false,
        },
        body: { fields: { model: 'model', usage: 'usage', error: 'error' } },
        imageItemType: undefined,
      },
      usageReaders({
        places: { input: ['input_tokens'], output: ['output_tokens'] },
        toUsage: ({ input, output }) => ({ ...NO_USAGE, input, output }),
      }),
    ),
    text: (body: JsonValue): RequestText =>
      textIn(isJsonObject(body) ? [body['instructions'], body['input']] : []),
    answersInBytes: 'only',
    smallest: { input: 'Hi', voice: 'alloy' },
  },
}

/**
 * A vendor that answers with sound alone reports no tokens, and once begun it speaks the whole text, so a rule
 * estimates them.
 */
function estimate(model: Model, call: EstimatedCall): Estimate {
  // Without `input`, all that was sent may be what a vendor speaks in its place.
  const { bodyBytes, spokenCharacters } = call.scan
  const spokenBytes = spokenCharacters === 0 ? bodyBytes : call.scan.spokenBytes
  return {
    ...estimateInput(model, call),
    outputTokens: Math.ceil(spokenBytes * TOKENS_PER_BYTE),
    worstOutputTokens: Math.ceil(spokenBytes * TOKENS_PER_BYTE_WORST),
    pieces: { ...ONE_CALL, characters: spokenCharacters === 0 ? bodyBytes : spokenCharacters },
  }
}
