/** A conversion thread: one task after the other, each answered once. */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { asError } from '../../../core/errors/as-error.ts'
import { createTokenCounter } from '../../instance/token-counter.ts'
import { doTask } from './do-task.ts'
import type { Task, TaskResult } from './work.ts'

if (parentPort === null) throw new Error('the conversion runs as a worker thread')
const port: MessagePort = parentPort

const counter = createTokenCounter()
const countTokens = (text: string): Promise<number> => Promise.resolve(counter.count(text))

port.on('message', (task: Task) => {
  doTask(task, countTokens).then(send, (error: unknown) => {
    const known = asError(error)
    send({ kind: 'threw', message: known.message, stack: known.stack })
  })
})

/** Bytes are transferred, not copied. */
function send(result: TaskResult): void {
  const bytes = bytesOf(result)
  port.postMessage(result, bytes === undefined ? [] : [bytes])
}

function bytesOf(result: TaskResult): ArrayBuffer | undefined {
  const bytes =
    'items' in result
      ? result.items
      : 'body' in result
        ? result.body
        : result.kind === 'submitted'
          ? result.request.body
          : result.kind === 'rewritten'
            ? result.answer.sound?.bytes
            : undefined
  if (typeof bytes === 'string') return undefined
  return bytes?.buffer instanceof ArrayBuffer ? bytes.buffer : undefined
}
