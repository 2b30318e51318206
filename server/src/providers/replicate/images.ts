/**
 * Images by models on Replicate: a prediction, polled until it has ended. The order's own connection does not wait for
 * it (`Prefer: wait`): if it broke, the prediction's id would be lost. The inputs are taken from the models' schemas,
 * read in 2026.
 */
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { classifyFailure } from '../../core/routing/failure.ts'
import { GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import {
  countOf,
  isSize,
  ownMembers,
  type PictureShape,
  picturesAsked,
  picturesIn,
  shapeOf,
} from '../dialects/pictures.ts'
import { reportedError } from '../video-forms/reported-error.ts'
import { below, type FormRewrite, type PassedDialect, type TaskReply } from '../provider.ts'
import { idIn, linkIn, objectAt, originOf, textIn } from '../video-forms/json.ts'
import { codeIn, WORDS } from './failures.ts'
import { targetOf } from './target.ts'

interface PictureInputs {
  /** Its field for the number; undefined: it makes one. */
  readonly count: string | undefined
  readonly shape: PictureShape
}

const RATIOS = ['1:1', '16:9', '21:9', '3:2', '2:3', '4:5', '5:4', '3:4', '4:3', '9:16', '9:21']
const USUAL: PictureInputs = { count: 'num_outputs', shape: RATIOS }

const OF_OPENAI = /^openai\//

/** The first pattern that fits counts. */
const MODELS: readonly (readonly [RegExp, Partial<PictureInputs>])[] = [
  [OF_OPENAI, { count: 'number_of_images', shape: ['1:1', '3:2', '2:3'] }],
  [/^minimax\/image/, { count: 'number_of_images' }],
  [/^recraft-ai\//, { count: undefined, shape: 'text' }],
  [/^(?:google|ideogram-ai|luma|bytedance|qwen)\//, { count: undefined }],
  [/^black-forest-labs\/flux-(?:1\.1|2|pro|kontext)/, { count: undefined }],
  [/sdxl|stable-diffusion(?!-3)/, { shape: 'pixels' }],
]

function inputsOf(model: string): PictureInputs {
  return { ...USUAL, ...MODELS.find(([pattern]) => pattern.test(model))?.[1] }
}

const rewrite: FormRewrite = {
  linkedPictures: true,
  request: ({ model: named, prompt = null, n, size, response_format: format, ...rest }) => {
    const model = typeof named === 'string' ? named : ''
    const { version } = targetOf(model)
    const { count: countName, shape } = inputsOf(model)
    const openai = OF_OPENAI.test(model)
    const { members, dropped } = ownMembers(rest, { openai })
    const count = countOf(n)
    const shaped = shapeOf(size, shape)
    const left = [
      ...(count !== undefined && count !== 1 && countName === undefined ? ['n'] : []),
      ...(isSize(size) && shaped === undefined ? ['size'] : []),
    ]
    return {
      body: {
        ...(version === undefined ? {} : { version }),
        input: {
          prompt,
          ...(count === undefined || countName === undefined ? {} : { [countName]: count }),
          ...placed(shaped, shape),
          ...members,
          ...fileFormat(members['output_format'], openai),
        },
      },
      dropped: [...left, ...dropped],
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: ({ status, output, error }) => {
    if (FAILED.has(status)) return errorOf(status, error)
    const data = status === 'succeeded' ? picturesIn(output) : []
    return data.length === 0 ? undefined : { data }
  },
}

function placed(shaped: JsonValue | undefined, shape: PictureShape): JsonObject {
  if (shaped === undefined) return {}
  if (shape === 'pixels') return objectAt(shaped)
  return shape === 'text' ? { size: shaped } : { aspect_ratio: shaped }
}

/** Most have another word for JPEG than OpenAI. */
function fileFormat(format: JsonValue | undefined, openai: boolean): JsonObject {
  return format === 'jpeg' && !openai ? { output_format: 'jpg' } : {}
}

const FAILED: ReadonlySet<unknown> = new Set(['failed', 'canceled', 'aborted'])
const RUNNING: ReadonlySet<unknown> = new Set(['starting', 'processing'])

/** Without the client's own input, which every answer repeats. */
function errorOf(status: JsonValue | undefined, error: JsonValue | undefined): JsonObject {
  const message = textIn(error) ?? `the prediction was ${textIn(status) ?? 'not made'}`
  const code = codeIn(message)
  const { kind } = classifyFailure(
    { status: 200, headers: {}, body: { error: { code: code ?? null } } },
    WORDS,
  )
  return reportedError({ code, message, kind })
}

function read({ body, order, asked }: TaskReply, { baseUrl }: { readonly baseUrl: string }) {
  const { status } = body
  if (FAILED.has(status) || status === 'succeeded') return 'over'
  const id = idIn((order ?? body)['id'])
  const goesOn = asked === undefined || RUNNING.has(status)
  return id === undefined || !goesOn
    ? 'unclear'
    : { url: questionOf(order ?? body, baseUrl, id), headers: {} }
}

/** The address to poll; the key is sent to it only if it is on the host of the order. */
function questionOf(order: JsonObject, baseUrl: string, id: string): string {
  const told = linkIn(objectAt(order, 'urls')['get'])
  if (told !== undefined && originOf(told) === originOf(baseUrl)) return told
  return below(baseUrl, `/predictions/${encodeURIComponent(id)}`)
}

export const replicateImages: PassedDialect = {
  ...passedDialect({ protocol: 'images', path: '', words: WORDS, rewrite }),
  paths: [GENERATIONS],
  modelPlace: 'path',
  makesOne: (model) => inputsOf(model).count === undefined,
  form: ({ baseUrl, operation, forwardModelId }) =>
    operation === 'count-tokens'
      ? undefined
      : { method: 'POST', url: below(baseUrl, targetOf(forwardModelId).path), headers: {} },
  tasks: { isTask: () => true, read },
}
