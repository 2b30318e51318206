/**
 * The gateway as a process of its own, with a clock that runs ahead and vendors that need not be waited for as long as they
 * advise: what a lease keeps for half a minute is free when the next process starts.
 */
import { readConfig } from '../../src/config/environment.ts'
import { startGateway } from '../../src/app/start-gateway.ts'

const [, , aheadMs = '0', pace = '1'] = process.argv

const running = await startGateway(readConfig(process.env), async () => {}, {
  ops: false,
  timing: {
    now: () => Date.now() + Number(aheadMs),
    pollPace: Number(pace),
    periods: { beatMs: 200, silentMs: 800 },
  },
})
process.stdout.write(`${running.baseUrl}\n`)
