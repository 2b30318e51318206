import { NO_USAGE } from '../../core/canonical/usage.ts'
import type { Model } from '../../core/catalogue.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import type { Estimate } from '../../core/ledger/operations.ts'
import { usageReaders } from '../../core/metering/counters.ts'
import { ONE_CALL } from '../../core/metering/quantities.ts'
import type { RequestText } from '../../core/metering/request-text.ts'
import { answerForm } from '../../core/passthrough/answers/compiled-answers.ts'
import { requestForm } from '../../core/passthrough/requests/request-form.ts'
import type { EndpointKind, EstimatedCall } from './kind.ts'
import { textIn } from './read-input.ts'
import { silence } from './silence.ts'

/** Input tokens per second of sound at vendors that bill tokens, also the maximum. */
const INPUT_TOKENS_PER_SECOND = 10
const INPUT_TOKENS_PER_SECOND_WORST = 50
/**
 * Tokens of transcribed speech: 150 words a minute; the maximum is for the fastest speaker, in the language with the most
 * tokens, with time stamps.
 */
const OUTPUT_TOKENS_PER_SECOND = 4
const OUTPUT_TOKENS_PER_SECOND_WORST = 40
const BYTES_PER_TOKEN = 4

/** The length of a file at another address cannot be measured here. */
const SEND_THE_SOUND = 'send the sound itself as file: sound at another address cannot be measured'

/**
 * Transcription, or translation to English. The form passes byte for byte except for its model; the duration of its
 * sound, measured here, is charged, or the vendor's tokens.
 */
export const TRANSCRIPTION: EndpointKind = {
  id: 'transcription',
  flow: 'exchange',
  paths: [
    { methods: ['POST'], path: '/v1/audio/transcriptions', protocol: 'transcription', forms: true },
    { methods: ['POST'], path: '/v1/audio/translations', protocol: 'transcription', forms: true },
  ],
  chains: ['transcription'],
  counts: ({ pieces = ONE_CALL }) => ({
    requests: 1,
    images: 0,
    videos: 0,
    videoSeconds: 0,
    audioSeconds: pieces.audioSeconds,
  }),
  estimate,
  forms: {
    files: ['file'],
    refused: { url: SEND_THE_SOUND, file_url: SEND_THE_SOUND, file_id: SEND_THE_SOUND },
  },
  form: {
    id: 'transcription',
    requests: requestForm({ model: 'model', user: 'user', stream: 'stream' }),
    answers: answerForm(
      {
        stream: {
          fields: {
            type: 'type',
            model: 'model',
            usage: 'usage',
            error: 'error',
            delta: 'begun',
            text: 'begun',
            // Chunks like those of chats, which end with `[DONE]` (docs/protocols.md#transcription).
            'choices[].delta.content': 'begun',
          },
          events: {
            'transcript.text.delta': 'content',
            'transcript.text.segment': 'content',
            'transcript.text.done': 'terminator',
            // Mistral's names (docs/protocols.md#transcription).
            'transcription.text.delta': 'content',
            'transcription.segment': 'content',
            'transcription.done': 'terminator',
            error: 'failure',
          },
          contentPrefix: undefined,
          quietBlocks: [],
          done: 'accepted',
          finishTerminates: false,
        },
        body: { fields: { model: 'model', usage: 'usage', error: 'error' } },
        imageItemType: undefined,
      },
      usageReaders({
        places: { input: ['input_tokens', 'prompt_tokens'], output: ['output_tokens', 'completion_tokens'] },
        toUsage: ({ input, output }) => ({ ...NO_USAGE, input, output }),
      }),
    ),
    text: (body: JsonValue): RequestText => textIn(isJsonObject(body) ? [body['prompt']] : []),
    answersInBytes: 'too',
    listens: true,
    smallest: {},
    smallestFile: { field: 'file', name: 'silence.wav', content: silence() },
  },
}

/**
 * If a vendor reports no tokens, a rule estimates them from the duration: the vendor transcribes all of it, even if the
 * client leaves.
 */
function estimate(_model: Model, { scan }: EstimatedCall): Estimate {
  const seconds = scan.soundSeconds ?? 0
  const textBytes = scan.bodyBytes - scan.mediaBytes
  return {
    inputTokens: Math.ceil(textBytes / BYTES_PER_TOKEN + seconds * INPUT_TOKENS_PER_SECOND),
    outputTokens: Math.ceil(seconds * OUTPUT_TOKENS_PER_SECOND),
    images: 0,
    videoSeconds: 0,
    bound: 'strict',
    worstInputTokens: Math.ceil(textBytes + seconds * INPUT_TOKENS_PER_SECOND_WORST),
    worstOutputTokens: Math.ceil(seconds * OUTPUT_TOKENS_PER_SECOND_WORST),
    covers: 'worst',
    pieces: { ...ONE_CALL, audioSeconds: seconds },
  }
}
