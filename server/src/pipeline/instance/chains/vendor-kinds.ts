/** Which kinds of vendor there are, for the modules that check what an operator writes and may not look into `providers/`. */
export { vendorKinds } from '../../../providers/index.ts'
