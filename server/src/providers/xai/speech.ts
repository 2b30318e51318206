/** Speech by xAI: a document of its own, answered with the bytes of the sound (docs/protocols.md#speech). */
import type { JsonObject } from '../../core/json.ts'
import { passedDialect } from '../dialects/passed.ts'
import { renamed } from '../dialects/rename.ts'
import { voiceName } from '../dialects/speech.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'

const CODECS = ['mp3', 'wav', 'pcm', 'mulaw', 'alaw']

/** Its own members, which a client may add. */
const NAMES = {
  input: 'text',
  voice_id: 'voice_id',
  language: 'language',
  output_format: 'output_format',
  speed: 'speed',
}

const rewrite: FormRewrite = {
  refuses: ({ response_format: format = 'mp3', stream_format: events }) => {
    if (events === 'sse') return 'stream_format: this vendor sends the bytes of the sound, no events'
    return CODECS.some((codec) => codec === format)
      ? undefined
      : `response_format: this vendor has ${CODECS.join(', ')}`
  },
  request: ({ model: _one, voice, response_format: format, stream_format: _bytes, ...rest }) => {
    const { members, dropped } = renamed(rest, NAMES)
    const voiceId = members['voice_id'] ?? voiceName(voice)
    return {
      body: {
        ...members,
        ...(voiceId === undefined || voiceId === null ? {} : { voice_id: voiceId }),
        language: members['language'] ?? 'auto',
        output_format: members['output_format'] ?? formatOf(format),
      },
      dropped,
      context: {},
    }
  },
  passesBytes: true,
  // A document in place of the sound is no answer.
  answer: () => undefined,
}

function formatOf(format: unknown): JsonObject {
  return { codec: typeof format === 'string' ? format : 'mp3' }
}

export const xaiSpeech: PassedDialect = passedDialect({ protocol: 'speech', path: '/tts', rewrite })
