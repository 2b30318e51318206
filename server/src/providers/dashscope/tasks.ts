/** Tasks: a request with `x-dashscope-async` is answered with an id, under which the task is asked for until it has ended. */
import { idIn } from '../video-forms/json.ts'
import type { FormInput, TaskReply, TaskStep } from '../provider.ts'
import { ofApi } from './address.ts'
import { outputOf } from './answer.ts'

const RUNNING: ReadonlySet<unknown> = new Set(['PENDING', 'RUNNING'])
const ENDED: ReadonlySet<unknown> = new Set(['SUCCEEDED', 'FAILED', 'CANCELED'])

export function readTask({ body, order }: TaskReply, { baseUrl }: Pick<FormInput, 'baseUrl'>): TaskStep {
  const { task_status: status } = outputOf(body)
  const id = idIn(outputOf(order ?? body)['task_id'])
  if (ENDED.has(status)) return 'over'
  // Whatever is said of it first, what has an id was ordered.
  const goesOn = order === undefined || RUNNING.has(status)
  if (id === undefined || !goesOn) return 'unclear'
  return { url: ofApi(baseUrl, `/api/v1/tasks/${encodeURIComponent(id)}`), headers: {} }
}
