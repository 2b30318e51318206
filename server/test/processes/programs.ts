/** Programs that tests start as processes of their own; `tools/project/build.mjs` lists them. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const BUILD = fileURLToPath(new URL('../../../tools/project/build-test-programs.mjs', import.meta.url))

/** Made by whoever asks first; the others find them. */
export async function buildPrograms(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILD])
}

/** The built file. */
export function programPath(
  name: 'gateway' | 'video-gateway' | 'task-gateway' | 'calls' | 'video-task',
): string {
  return fileURLToPath(new URL(`../../dist/test/${name}.js`, import.meta.url))
}
