/** The address for calling a model: `owner/name`, `owner/name:version`, a bare version, or `deployments/owner/name`. */
export function targetOf(model: string): { readonly path: string; readonly version: string | undefined } {
  const version = /(?:^|:)([0-9a-f]{64})$/.exec(model)?.[1] ?? model.split(':')[1]
  if (version !== undefined) return { path: '/predictions', version }
  return {
    path: model.startsWith('deployments/') ? `/${model}/predictions` : `/models/${model}/predictions`,
    version,
  }
}
