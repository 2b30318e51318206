/** Gateways as processes of their own that run tasks, each to be killed at any moment. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { programPath } from './programs.ts'

/** Beside the storage worker, where the built product looks for it. */
const CHILD = programPath('task-gateway')

export interface TaskGateway {
  readonly url: string
  /** Resolves when it is gone. */
  kill(): Promise<void>
}

export interface TaskGateways {
  open(environment: Readonly<Record<string, string>>): Promise<TaskGateway>
  /** Ends those that still run. */
  killAll(): void
}

export function taskGateways(): TaskGateways {
  const children = new Set<ChildProcess>()
  return {
    open: (environment) => openChild(children, environment),
    killAll: () => {
      for (const child of children) child.kill('SIGKILL')
    },
  }
}

function openChild(
  children: Set<ChildProcess>,
  environment: Readonly<Record<string, string>>,
): Promise<TaskGateway> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [CHILD], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...environment },
    })
    children.add(child)
    const gone = new Promise<void>((over) => {
      child.on('close', () => {
        children.delete(child)
        over()
      })
    })
    child.on('error', reject)
    createInterface({ input: child.stdout }).once('line', (url) =>
      resolve({
        url,
        kill() {
          child.kill('SIGKILL')
          return gone
        },
      }),
    )
  })
}
