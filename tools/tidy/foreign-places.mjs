/** The tree works on any machine: no folder of somebody's computer, no address of somebody's registry stands in it. */
const RULES = [
  {
    form: new RegExp(`(?<![\\w.~/-])/(${['work', 'farm', 'root', 'home', 'Users'].join('|')})/\\w`),
    message: 'a folder of one machine; make it relative or configurable',
  },
  {
    form: /https?:\/\/(registry\.npmjs\.org|registry\.npmmirror\.com|registry\.yarnpkg\.com|npm\.[\w.-]+)/,
    message: 'the address of a registry; everybody uses the one npm is configured with',
  },
]
const TEXT =
  /\.(ts|tsx|mjs|cjs|js|json|md|yaml|yml|conf|service|sh|toml)$|(^|\/)(Dockerfile|run|\.npmrc|\.gitignore)$/
/** Folders inside a container image or a unit file are places of the product, not of a machine. */
const PLACES_OF_THE_PRODUCT = /^deploy\//

export function checkForeignPlaces(tree) {
  return tree.files
    .filter((file) => TEXT.test(file) && !PLACES_OF_THE_PRODUCT.test(file) && !file.startsWith('tools/tidy/'))
    .flatMap((file) => placesIn(file, tree.read(file)))
}

function placesIn(file, text) {
  return text
    .split('\n')
    .flatMap((line, index) =>
      RULES.filter(({ form }) => form.test(line)).map(({ message }) => ({ file, line: index + 1, message })),
    )
}
