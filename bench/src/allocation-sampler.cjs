/**
 * Loaded into a gateway before it starts: from a SIGUSR2 to the next it samples what its serving thread allocates, with
 * what has been collected since, and writes V8's profile to the file that `ALLOCATION_PROFILE` names.
 */
const { writeFileSync } = require('node:fs')
const { Session } = require('node:inspector')
const { isMainThread } = require('node:worker_threads')

/** Small enough that each function of a call is seen within seconds. */
const EVERY_BYTES = 512

if (isMainThread) {
  const session = new Session()
  session.connect()
  let sampling = false
  process.on('SIGUSR2', () => {
    sampling = !sampling
    if (sampling)
      session.post('HeapProfiler.startSampling', {
        samplingInterval: EVERY_BYTES,
        includeObjectsCollectedByMajorGC: true,
        includeObjectsCollectedByMinorGC: true,
      })
    else
      session.post('HeapProfiler.stopSampling', (error, result) => {
        if (error !== null) throw error
        writeFileSync(process.env.ALLOCATION_PROFILE, JSON.stringify(result.profile))
      })
  })
}
