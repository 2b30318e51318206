/**
 * A process that reserves and settles calls as fast as it can until it is killed. It prints a line for every answer it
 * got, so that its parent knows what was promised.
 */
import { CHAIN, exampleReserve, MODEL } from '../../src/core/calls/examples.ts'
import { NO_USAGE } from '../../src/core/canonical/usage.ts'
import { callId, instanceId } from '../../src/core/ids.ts'
import { NOW, settleTwoCredits } from '../../src/storage/conformance/suite.ts'
import { openStorage } from '../../src/storage/open.ts'

const LOOPS = 16
const [, , name = '', dataDir = '', databaseUrl] = process.argv

const instance = instanceId(name)
const storage = await openStorage({
  databaseUrl,
  dataDir,
  secretKey: new Uint8Array(32).fill(1),
  instanceId: instance,
  now: () => NOW,
  log: { warn: () => {} },
  runsCalls: 'alone',
})
await storage.calls.heartbeat(instance, NOW)
await Promise.all(Array.from({ length: LOOPS }, (_, loop) => callForEver(loop)))

async function callForEver(loop: number): Promise<void> {
  for (let index = 0; ; index++) {
    const id = `${name}_${loop}_${index}`
    await storage.calls.reserve(exampleReserve(id, { instanceId: instance, first: true }))
    say('reserved', id)
    // Every second call streams for a while before it ends.
    if (index % 2 === 1) {
      const progress = {
        callId: callId(id),
        at: NOW,
        chainId: CHAIN,
        modelId: MODEL,
        byok: false,
        usage: { ...NO_USAGE, input: 1000, output: 100 },
        usageSource: 'upstream',
        images: 0,
      } as const
      await storage.calls.progress(progress)
      say('progressed', id)
    }
    await storage.calls.settle(settleTwoCredits(id))
    say('settled', id)
  }
}

function say(what: string, id: string): void {
  process.stdout.write(`${what} ${id}\n`)
}
