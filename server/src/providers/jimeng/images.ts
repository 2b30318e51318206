/** Pictures by Jimeng: a task, polled by POST until it has ended (docs/protocols.md#images). */
import { givenPictures, refusedPictures } from '../dialects/given-pictures.ts'
import { EDITS, GENERATIONS } from '../dialects/images-dialect.ts'
import { passedDialect } from '../dialects/passed.ts'
import { countOf, isSize, picturesAsked, picturesIn, shapeOf } from '../dialects/pictures.ts'
import { renamed } from '../dialects/rename.ts'
import { taskStep } from '../video-forms/task-step.ts'
import { reportedError } from '../video-forms/reported-error.ts'
import type { FormRewrite, PassedDialect, TaskReply, TaskStep } from '../provider.ts'
import { objectAt, textIn } from '../video-forms/json.ts'
import { AUTH, actionUrl } from './action.ts'
import { ACCEPTED, blamesTask, classify, codeIn, messageIn } from './failures.ts'

/** By their names these start from text, or from one picture; all others take several, and decide the number of pictures themselves. */
const OF_WORDS = /t2i_v[123]\d/
const OF_ONE = /i2i_v[123]\d/
const PICTURES_MAX = 10

/** The vendor's own members, which a client may add. */
const NAMES = {
  seed: 'seed',
  scale: 'scale',
  use_pre_llm: 'use_pre_llm',
  min_ratio: 'min_ratio',
  max_ratio: 'max_ratio',
  width: 'width',
  height: 'height',
}

function mostOf(model: string): number {
  if (OF_WORDS.test(model)) return 0
  return OF_ONE.test(model) ? 1 : PICTURES_MAX
}

const rewrite: FormRewrite = {
  linkedPictures: true,
  refuses: (body, told, calledPath) => {
    const refused = refusedPictures(body, told, { most: mostOf(textIn(body['model']) ?? ''), calledPath })
    if (refused !== undefined) return refused
    const kinds = new Set(givenPictures(body).pictures.map(({ kind }) => kind))
    if (told.files.length > 0) kinds.add('base64')
    return kinds.size > 1 ? 'image: this vendor takes addresses or bytes, not both in one call' : undefined
  },
  request: (asked, sent) => {
    const { pictures, rest } = givenPictures(asked, sent)
    const { model: named, prompt = null, n, size, response_format: format, ...own } = rest
    const model = textIn(named) ?? ''
    const { members, dropped } = renamed(own, NAMES)
    const count = countOf(n)
    const pixels = shapeOf(size, 'pixels')
    const addresses = pictures.flatMap((picture) => (picture.kind === 'url' ? [picture.url] : []))
    const bytes = pictures.flatMap((picture) => (picture.kind === 'base64' ? [picture.data] : []))
    return {
      body: {
        req_key: model,
        prompt,
        ...(addresses.length === 0 ? {} : { image_urls: addresses }),
        ...(bytes.length === 0 ? {} : { binary_data_base64: bytes }),
        // Otherwise the model decides how many it makes, each of which is billed.
        ...(mostOf(model) === PICTURES_MAX ? { force_single: true } : {}),
        ...objectAt(pixels),
        ...members,
      },
      dropped: [
        ...(count !== undefined && count !== 1 ? ['n'] : []),
        ...(isSize(size) && pixels === undefined ? ['size'] : []),
        ...dropped,
      ],
      context: picturesAsked({ response_format: format }),
    }
  },
  answer: (body) => {
    const code = codeIn(body)
    if (code !== undefined && code !== ACCEPTED) {
      const { kind } = classify({ status: 200, headers: {}, body })
      return reportedError({ code, message: messageIn(body) ?? code, kind })
    }
    const data = picturesIn(objectAt(body, 'data')['image_urls'])
    return data.length === 0 ? undefined : { data }
  },
}

/** A poll that was refused for a reason other than the task does not decide the task. */
function read(
  { body, order = body, asked }: TaskReply,
  { baseUrl, forwardModelId }: { readonly baseUrl: string; readonly forwardModelId: string },
): TaskStep {
  const id = textIn(objectAt(order, 'data')['task_id'])
  if (id === undefined) return 'unclear'
  const code = codeIn(body)
  if (code !== ACCEPTED) return code !== undefined && blamesTask(code) ? 'over' : 'unclear'
  return taskStep(objectAt(body, 'data')['status'], asked, {
    url: actionUrl(baseUrl, 'CVSync2AsyncGetResult'),
    headers: {},
    body: { req_key: forwardModelId, task_id: id, req_json: JSON.stringify({ return_url: true }) },
  })
}

export const jimengImages: PassedDialect = {
  ...passedDialect({
    protocol: 'images',
    path: '',
    auth: AUTH,
    paths: [GENERATIONS, EDITS],
    classify,
    rewrite,
  }),
  makesOne: () => true,
  form: ({ baseUrl, operation }) =>
    operation === 'count-tokens'
      ? undefined
      : { method: 'POST', url: actionUrl(baseUrl, 'CVSync2AsyncSubmitTask'), headers: {} },
  tasks: { isTask: () => true, read },
}
