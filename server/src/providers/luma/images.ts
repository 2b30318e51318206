/** Pictures by both of Luma's APIs: a generation of one picture, polled by its id (docs/protocols.md#images). */
import type { JsonObject, JsonValue } from '../../core/json.ts'
import { classifyFailure, type FailureWords } from '../../core/routing/failure.ts'
import { type GivenPicture, givenPictures, refusedPictures } from '../dialects/given-pictures.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesAsked, picturesIn, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import { taskStep } from '../video-forms/task-step.ts'
import { reportedError } from '../video-forms/reported-error.ts'
import { below, type FormRewrite, type PassedDialect, type TaskReply, type TaskStep } from '../provider.ts'
import { objectAt, objectsIn, textIn } from '../video-forms/json.ts'
import { taskWord } from '../video-forms/progress.ts'

const WORDS: FailureWords = { content_moderated: 'refused-content' }

/** What the two APIs do not share. */
interface LumaForm {
  /** Below the base address. */
  readonly path: string
  readonly ratios: readonly string[]
  /** The vendor's own members, which a client may add. */
  readonly names: Readonly<Record<string, string>>
  readonly picturesMax: number
  /** Pictures are sent by address only. */
  readonly byAddress: boolean
  /** The first picture is changed, the others are shown to the model. */
  readonly places: (first: GivenPicture | undefined, others: readonly GivenPicture[]) => JsonObject
  readonly made: (body: JsonObject) => JsonValue | undefined
}

const AGENTS: LumaForm = {
  path: '/generations',
  ratios: ['3:1', '2:1', '16:9', '3:2', '1:1', '2:3', '9:16', '1:2', '1:3'],
  names: {
    aspect_ratio: 'aspect_ratio',
    style: 'style',
    output_format: 'output_format',
    web_search: 'web_search',
    image_ref: 'image_ref',
  },
  picturesMax: 9,
  byAddress: false,
  places: (first, others) => ({
    type: first === undefined ? 'image' : 'image_edit',
    ...(first === undefined ? {} : { source: placeOf(first) }),
    ...(others.length === 0 ? {} : { image_ref: others.map(placeOf) }),
  }),
  made: ({ output }) => objectsIn(output).filter(({ type = 'image' }) => type !== 'video'),
}

const DREAM_MACHINE: LumaForm = {
  path: '/generations/image',
  ratios: ['1:1', '3:4', '4:3', '9:16', '16:9', '9:21', '21:9'],
  names: {
    aspect_ratio: 'aspect_ratio',
    format: 'format',
    image_ref: 'image_ref',
    style_ref: 'style_ref',
    character_ref: 'character_ref',
    modify_image_ref: 'modify_image_ref',
  },
  picturesMax: 5,
  byAddress: true,
  places: (first, others) => ({
    ...(first === undefined ? {} : { modify_image_ref: placeOf(first) }),
    ...(others.length === 0 ? {} : { image_ref: others.map(placeOf) }),
  }),
  made: (body) => objectAt(body, 'assets')['image'],
}

function placeOf(picture: GivenPicture): JsonObject {
  return picture.kind === 'url' ? { url: picture.url } : { data: picture.data, media_type: picture.mediaType }
}

function rewriteOf({ ratios, names, picturesMax: most, byAddress, places, made }: LumaForm): FormRewrite {
  return {
    linkedPictures: true,
    refuses: (body, told, calledPath) => {
      const hasBytes =
        told.files.length > 0 || givenPictures(body).pictures.some(({ kind }) => kind === 'base64')
      return byAddress && hasBytes
        ? 'image: this vendor takes pictures by public address only'
        : refusedPictures(body, told, {
            most,
            calledPath,
            own: ['modify_image_ref', 'image_ref'].filter((name) => name in names),
          })
    },
    request: (asked, sent) => {
      const { pictures, rest } = givenPictures(asked, sent)
      const { model = null, prompt = null, n, size, response_format: format, ...own } = rest
      const { members, dropped } = renamed(own, names)
      const count = countOf(n)
      const ratio = shapeOf(size, ratios)
      const [first, ...others] = pictures
      return {
        body: {
          model,
          prompt,
          ...places(first, others),
          ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
          ...members,
        },
        dropped: [
          ...(count !== undefined && count !== 1 ? ['n'] : []),
          ...(isSize(size) && ratio === undefined ? ['size'] : []),
          ...dropped,
        ],
        context: picturesAsked({ response_format: format }),
      }
    },
    answer: (body) => {
      const error = errorIn(body)
      if (error !== undefined) return error
      const data = picturesIn(made(body))
      return data.length === 0 ? undefined : { data }
    },
  }
}

function errorIn(body: JsonObject): JsonObject | undefined {
  if (taskWord(body['state']) !== 'failed') return undefined
  const code = textIn(body['failure_code'])
  const message = textIn(body['failure_reason']) ?? code ?? 'the generation failed'
  const { kind } = classifyFailure(
    { status: 200, headers: {}, body: { error: { code: code ?? null } } },
    WORDS,
  )
  return reportedError({ code, message, kind })
}

function read({ body, order = body, asked }: TaskReply, { baseUrl }: { readonly baseUrl: string }): TaskStep {
  const id = textIn(order['id'])
  if (id === undefined) return 'unclear'
  const url = below(baseUrl, `/generations/${encodeURIComponent(id)}`)
  return taskStep(body['state'], asked, { url, headers: {} })
}

function dialectOf(form: LumaForm): PassedDialect {
  return {
    ...passedDialect({
      protocol: 'images',
      path: form.path,
      paths: [GENERATIONS, EDITS],
      words: WORDS,
      rewrite: rewriteOf(form),
    }),
    makesOne: () => true,
    tasks: { isTask: () => true, read },
  }
}

export const lumaImages: PassedDialect = dialectOf(AGENTS)
export const lumaDreamMachineImages: PassedDialect = dialectOf(DREAM_MACHINE)
