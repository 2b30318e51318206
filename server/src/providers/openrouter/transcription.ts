/** Transcription by OpenRouter: a document with the sound in base64, answered with its text alone (docs/protocols.md#transcription). */
import type { JsonObject } from '../../core/json.ts'
import { TRANSCRIPTIONS } from '../dialects/audio-path.ts'
import { toBase64 } from '../dialects/base64.ts'
import { passedDialect } from '../dialects/passed.ts'
import { soundKindOf } from '../dialects/sound-kind.ts'
import { cannotBeWritten, reportedTokens, writingAsked, writtenAs } from '../dialects/written-down.ts'
import type { FormRewrite, PassedDialect } from '../provider.ts'
import { classify } from './failures.ts'

const rewrite: FormRewrite = {
  refuses: (fields, sent) => cannotBeWritten(fields, sent, { times: false }),
  request: ({ model = null, language, temperature, response_format, stream, ...rest }, sent) => {
    const files = sent?.files ?? []
    const bytes = files.find(({ name }) => name === 'file')?.bytes() ?? new Uint8Array(0)
    const heat = Number(temperature)
    return {
      body: {
        model,
        // It has to be there; sound of no known kind is refused by the vendor, whatever it says.
        input_audio: { data: toBase64(bytes), format: soundKindOf(bytes)?.format ?? 'wav' },
        ...(language === undefined ? {} : { language }),
        ...(temperature === undefined || Number.isNaN(heat) ? {} : { temperature: heat }),
      },
      dropped: [...Object.keys(rest), ...files.map(({ name }) => name).filter((name) => name !== 'file')],
      context: writingAsked(
        {
          ...(language === undefined ? {} : { language }),
          ...(response_format === undefined ? {} : { response_format }),
          ...(stream === undefined ? {} : { stream }),
        },
        sent?.soundSeconds ?? 0,
      ),
    }
  },
  answer: (body) => {
    if (typeof body['text'] !== 'string') return undefined
    const usage = usageIn(body)
    return usage === undefined ? {} : { usage }
  },
  sound: (body, context) => {
    const { text } = body
    return typeof text === 'string' ? writtenAs({ text }, context, usageIn(body)) : undefined
  },
}

/** Seconds and costs that the vendor reports are not read: the gateway measures the sound itself. */
function usageIn(body: JsonObject): JsonObject | undefined {
  return reportedTokens(body['usage'])
}

export const openrouterTranscription: PassedDialect = passedDialect({
  protocol: 'transcription',
  path: '/audio/transcriptions',
  paths: [TRANSCRIPTIONS],
  classify,
  rewrite,
})
