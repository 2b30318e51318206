/** Which kinds of vendor there are, for the modules that check an operator's input and may not import `providers/`. */
export { vendorKinds } from '../../../providers/index.ts'
