/** Pictures by Kling: a task at the path of its models, polled until it has ended (docs/protocols.md#images). */
import type { JsonObject } from '../../core/json.ts'
import { addressOrData, givenPictures, refusedPictures } from '../dialects/given-pictures.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesAsked, picturesIn, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import { taskStep } from '../video-forms/task-step.ts'
import { reportedError } from '../video-forms/reported-error.ts'
import { below, type FormRewrite, type PassedDialect, type TaskReply, type TaskStep } from '../provider.ts'
import { objectAt, textIn } from '../video-forms/json.ts'
import { taskWord } from '../video-forms/progress.ts'
import { classify, codeOfText } from './failures.ts'

const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9']

/** Those that take several pictures, at a path of their own. */
const OMNI = /omni|-image-o\d/
const PICTURES_MAX_OMNI = 10

/** The vendor's own members, which a client may add. */
const NAMES = {
  aspect_ratio: 'aspect_ratio',
  resolution: 'resolution',
  element_list: 'element_list',
  watermark_info: 'watermark_info',
}
const NAMES_WITH_PICTURE = {
  ...NAMES,
  image_reference: 'image_reference',
  image_fidelity: 'image_fidelity',
  human_fidelity: 'human_fidelity',
}
/** It is refused beside a picture. */
const NAMES_OF_NEW = { ...NAMES, negative_prompt: 'negative_prompt' }

function isOmni(model: unknown): boolean {
  return typeof model === 'string' && OMNI.test(model)
}

const rewrite: FormRewrite = {
  linkedPictures: true,
  refuses: (body, told, calledPath) =>
    refusedPictures(body, told, { most: isOmni(body['model']) ? PICTURES_MAX_OMNI : 1, calledPath }),
  request: (asked, sent) => {
    const { pictures, rest } = givenPictures(asked, sent)
    const { model = null, prompt = null, n, size, response_format: format, ...own } = rest
    const omni = isOmni(model)
    const [picture] = pictures
    const isNew = picture === undefined && !omni
    const { members, dropped } = renamed(own, isNew ? NAMES_OF_NEW : omni ? NAMES : NAMES_WITH_PICTURE)
    const count = countOf(n)
    const ratio = shapeOf(size, RATIOS)
    return {
      body: {
        model_name: model,
        prompt,
        ...(picture === undefined
          ? {}
          : omni
            ? { image_list: pictures.map((one) => ({ image: addressOrData(one) })) }
            : { image: addressOrData(picture) }),
        ...(count === undefined ? {} : { n: count }),
        ...(ratio === undefined ? {} : { aspect_ratio: ratio }),
        ...members,
      },
      dropped: isSize(size) && ratio === undefined ? ['size', ...dropped] : dropped,
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: (body) => {
    const error = errorIn(body)
    if (error !== undefined) return error
    const { images, series_images: series } = objectAt(body, 'data', 'task_result')
    const data = [...picturesIn(images), ...picturesIn(series)]
    return data.length === 0 ? undefined : { data }
  },
}

/** Of a call that was refused inside a 200, or of a task that failed. */
function errorIn(body: JsonObject): JsonObject | undefined {
  const task = objectAt(body, 'data')
  const refused = textIn(body['code'])
  const isRefused = refused !== undefined && refused !== '0'
  if (!isRefused && taskWord(task['task_status']) !== 'failed') return undefined
  const message = textIn(isRefused ? body['message'] : task['task_status_msg']) ?? ''
  const code = isRefused ? refused : codeOfText(message)
  const { kind } = classify({ status: 200, headers: {}, body: { error: { code: code ?? null } } })
  return reportedError({ code, message: message === '' ? (code ?? 'the task failed') : message, kind })
}

function pathOf(model: string): string {
  return OMNI.test(model) ? '/v1/images/omni-image' : '/v1/images/generations'
}

/** A refused question says nothing of the task: only the task's own status does. */
function read(
  { body, order = body, asked }: TaskReply,
  { baseUrl, forwardModelId }: { readonly baseUrl: string; readonly forwardModelId: string },
): TaskStep {
  const code = textIn(body['code'])
  const id = textIn(objectAt(order, 'data')['task_id'])
  if (id === undefined || (code !== undefined && code !== '0')) return 'unclear'
  const url = below(baseUrl, `${pathOf(forwardModelId)}/${encodeURIComponent(id)}`)
  return taskStep(objectAt(body, 'data')['task_status'], asked, { url, headers: {} })
}

export const klingImages: PassedDialect = {
  ...passedDialect({
    protocol: 'images',
    path: '',
    auth: { kind: 'jwt-hs256' },
    paths: [GENERATIONS, EDITS],
    classify,
    rewrite,
  }),
  form: ({ baseUrl, operation, forwardModelId }) =>
    operation === 'count-tokens'
      ? undefined
      : { method: 'POST', url: below(baseUrl, pathOf(forwardModelId)), headers: {} },
  tasks: { isTask: () => true, read },
}
