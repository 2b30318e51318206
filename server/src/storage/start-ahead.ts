/** For a process that will open a store of SQLite. The only other place that knows an engine is `open.ts`. */
export { startThreads as startStorageThreads } from './sqlite/threads.ts'
