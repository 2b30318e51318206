/** One of several equal processes behind the same addresses. */
import type { Config } from '../config/environment.ts'
import { endedWhenHung } from '../app/end-hung.ts'
import { type RunningGateway, startGateway } from '../app/start-gateway.ts'
import type { FromWorker, ToWorker } from './messages.ts'
import { post } from './post.ts'

/** The store was prepared by the first process. */
const PREPARED = (): Promise<void> => Promise.resolve()

/** A worker that is silent for too long counts as hung (`primary.ts`). */
const BEAT_MS = 1_000

export async function runWorker(config: Config): Promise<void> {
  // From the first moment: a signal for the whole group must not end a worker before it can settle.
  const state: { running: RunningGateway | undefined; stopping: boolean } = {
    running: undefined,
    stopping: false,
  }
  const stop = (): void => {
    if (state.stopping) return
    state.stopping = true
    leave(state.running)
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('disconnect', stop)
  const hung = endedWhenHung(config, () => state.running)
  const running = await startGateway(config, PREPARED, { ops: false, ...hung })
  state.running = running
  process.on('message', (message: ToWorker) => {
    if (message.kind === 'stop') stop()
    else answerLook(running, message.id)
  })
  setInterval(() => tell({ kind: 'beat' }), BEAT_MS).unref()
  tell({ kind: 'ready', baseUrl: running.baseUrl, gatewayBaseUrl: running.gatewayBaseUrl })
  setImmediate(running.loadApi)
}

function answerLook({ ops, pipeline }: RunningGateway, id: number): void {
  const asked = Promise.all([ops.readiness(), ops.metrics(), ops.troubledChains()])
  const answered = asked.then(([readiness, metrics, troubledChains]) =>
    tell({ kind: 'look', id, readiness, metrics, troubledChains }),
  )
  pipeline.telemetry.background.track(answered, 'answer the first process')
}

function leave(running: RunningGateway | undefined): void {
  if (running === undefined) process.exit(0)
  running.stop().then(
    () => process.exit(0),
    (error: unknown) => {
      process.stderr.write(`sluice could not stop cleanly: ${String(error)}\n`)
      process.exit(1)
    },
  )
}

/** If the first process has ended, there is no receiver, and this one is stopping too. */
function tell(message: FromWorker): void {
  post(process, message)
}
