/** Kling's two generations, distinguished by the model: `kling-v2-6` is sent in the body, `kling-3.0` in the path. */
import type { HttpRequest } from '../../core/http-request.ts'
import type { JsonValue } from '../../core/json.ts'
import type { VideoContext, VideoDialect, VideoFailure, VideoReply, VideoStep } from '../video.ts'
import { failedStep } from '../video-forms/failure.ts'
import { stepOf, taskWord } from '../video-forms/progress.ts'
import { linkIn, numberIn, objectAt, objectsIn, textIn } from '../video-forms/json.ts'
import { bodyModelTask, submitBodyModel } from './body-model.ts'
import { classify, codeOfText, refusalIn } from './failures.ts'
import { isPathModel, pathModelTask, submitPathModel } from './path-model.ts'

const DEFAULT_SECONDS = 5
const POLL_MS = 8000
const REFUSED_POLL_MS = 20_000
/** Files are cleared after 30 days. */
const LINK_MS = 30 * 24 * 3_600_000

export const klingVideo: VideoDialect = {
  auth: { kind: 'jwt-hs256' },
  imageForms: ['url', 'bytes'],
  defaultSeconds: () => DEFAULT_SECONDS,
  submit: (input) =>
    isPathModel(input.forwardModelId)
      ? submitPathModel(input, DEFAULT_SECONDS)
      : submitBodyModel(input, DEFAULT_SECONDS),
  accepted(reply, context) {
    const refusal = refusalIn(reply.body)
    return refusal === undefined ? read(reply, context) : failedStep(refusal, context.state)
  },
  step(reply, context) {
    const refusal = refusalIn(reply.body)
    return refusal === undefined ? read(reply, context) : refusedPoll(refusal, context)
  },
  classify,
  // The gateway's id in place of the vendor's: both forms accept either.
  find: (context) =>
    isPathModel(context.forwardModelId)
      ? pathModelTask(context, 'external_task_ids', context.taskId)
      : bodyModelTask(context, context.taskId),
}

/** A refused poll says nothing about the task: only the task's own status does. */
function refusedPoll({ class: kind, code }: VideoFailure, context: VideoContext): VideoStep {
  const id = textIn(context.state['id'])
  if (id === undefined || (kind !== 'rate' && kind !== 'upstream')) {
    return { kind: 'unreadable', detail: `the poll was refused with code ${code}` }
  }
  return {
    kind: 'poll',
    request: taskRequest(context, id),
    afterMs: REFUSED_POLL_MS,
    status: 'in_progress',
    state: context.state,
  }
}

function taskRequest(context: VideoContext, id: string): HttpRequest {
  return isPathModel(context.forwardModelId)
    ? pathModelTask(context, 'task_ids', id)
    : bodyModelTask(context, id)
}

/** Both generations' answers; the new one's polls are lists. */
function read(reply: VideoReply, context: VideoContext): VideoStep {
  const task = objectsIn(objectAt(reply.body)['data'])[0] ?? objectAt(reply.body, 'data')
  const id = textIn(task['task_id']) ?? textIn(task['id']) ?? textIn(context.state['id'])
  if (id === undefined) return { kind: 'unreadable', detail: 'an answer without a task id' }
  const word = task['task_status'] ?? task['status']
  const outputs = [...objectsIn(objectAt(task, 'task_result')['videos']), ...objectsIn(task['outputs'])]
  const video = outputs.find(
    (output) => (output['type'] ?? 'video') === 'video' && linkIn(output['url']) !== undefined,
  )
  const url = linkIn(video?.['url'])
  return stepOf({
    word,
    result: url === undefined ? undefined : { kind: 'link', url, lastsMs: LINK_MS },
    failure:
      taskWord(word) === 'failed'
        ? taskFailure(textIn(task['task_status_msg']) ?? textIn(task['message']), reply.body)
        : undefined,
    poll: taskRequest(context, id),
    afterMs: POLL_MS,
    secondsProduced: numberIn(video?.['duration']),
    state: { ...context.state, id },
  })
}

function taskFailure(message: string | undefined, body: JsonValue | undefined): VideoFailure | undefined {
  if (message === undefined) return undefined
  const code = codeOfText(message)
  return {
    class: code === undefined ? 'upstream' : code === 'risk_control' ? 'moderation' : 'invalid',
    code: code === 'risk_control' ? code : 'failed',
    message,
    body,
  }
}
