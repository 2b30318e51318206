import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineConfig, type Plugin } from 'vite'

const ROOT = fileURLToPath(new URL('.', import.meta.url))
const SOURCES = `${ROOT}src/`

/** The library's table has fourteen colours in ten shades, twice. The console's look is its own and wears none of these. */
const UNWORN = /^--mantine-color-(pink|grape|violet|indigo|blue|cyan|green|lime|yellow|orange)-/

/** Of the pages, how many need a module that comes with all of them. */
const PAGES_SHARE_MIN = 12

/** Written beside the manifest: the file of each module of ours, also of modules that share a file. */
const moduleFiles: Plugin = {
  name: 'module-files',
  generateBundle(_options, bundle) {
    const files = Object.values(bundle).flatMap((chunk) =>
      chunk.type === 'chunk'
        ? chunk.moduleIds
            .filter((id) => id.startsWith(SOURCES))
            .map((id) => [id.slice(ROOT.length), chunk.fileName])
        : [],
    )
    this.emitFile({
      type: 'asset',
      fileName: '.vite/modules.json',
      source: JSON.stringify(Object.fromEntries(files)),
    })
  },
}

const LOOK = 'src/app/shell/look.js'

/**
 * The library renders every control with an id twice: first with React's id, which would match a server's, then with a random
 * one. Nothing is rendered on a server here, so React's id is kept and the second rendering is left out.
 */
const idsOfReact: Plugin = {
  name: 'ids-of-react',
  load: (id) =>
    id.endsWith('@mantine/hooks/esm/use-id/use-id.mjs')
      ? `import { useId as useOwnId } from 'react'
export function useId(given) {
  const own = useOwnId()
  return typeof given === 'string' ? given : own
}`
      : undefined,
}

/** The variables of the library's table are in our styles: what would write them in the browser is never rendered. */
const noLateVariables: Plugin = {
  name: 'no-late-variables',
  load: (id) =>
    id.endsWith('MantineCssVariables/MantineCssVariables.mjs')
      ? 'export const MantineCssVariables = () => null'
      : undefined,
}

/** The script that runs before the first paint cannot be a module: modules are deferred. */
const lookBeforePaint: Plugin = {
  name: 'look-before-paint',
  generateBundle() {
    this.emitFile({ type: 'asset', name: 'look.js', source: readFileSync(`${ROOT}${LOOK}`) })
  },
  transformIndexHtml: (_html, { bundle }) => {
    const built = Object.values(bundle ?? {}).find(
      (file) => file.type === 'asset' && file.names.includes('look.js'),
    )
    return [
      { tag: 'script', attrs: { src: `/console/${built?.fileName ?? LOOK}` }, injectTo: 'head-prepend' },
    ]
  },
}

export default defineConfig({
  base: '/console/',
  plugins: [idsOfReact, noLateVariables, lookBeforePaint, moduleFiles],
  css: {
    postcss: {
      plugins: [
        {
          postcssPlugin: 'unworn-colours',
          Declaration: (declaration) => {
            if (UNWORN.test(declaration.prop)) declaration.remove()
          },
        },
      ],
    },
  },
  build: {
    target: 'es2023',
    // Those that know light-dark(), of which the whole look is made.
    cssTarget: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
    // Every style and font is a file of its own: nothing is inlined that the policy would have to allow.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One file of styles: compressed, all styles are little larger than those of one page, and no page waits for its own.
    cssCodeSplit: false,
    // What tools/console-weight.mjs weighs by.
    manifest: true,
    reportCompressedSize: false,
    // kB before compression; the budgets are in tools/console-weight.mjs.
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      // A mark for servers that render, which some packages carry.
      onwarn: (warning, warn) => warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warn(warning),
      output: {
        codeSplitting: {
          // Each with everything it imports that no group above contains. Few files per page: on a slow connection each
          // request costs bandwidth while it waits for its answer.
          groups: [
            // The libraries, and what pages with and without a session share.
            {
              name: 'start',
              test: /src\/(main|parts\/page\/(language-menu|theme-button|page-title|link-button|problem)|parts\/marks\/mark)\.tsx$|\/(TextInput|useMutation)\.m?js$/,
              priority: 5,
            },
            // The overview with the frame around it, and what most pages in the frame use.
            {
              name: 'first-page',
              test: /src\/(app\/frame\/frame|overview\/overview-page|parts\/(lists\/(data-table|download)|page\/(page-head|loaded)|charts\/figure|values\/(amount|price-text|short-id)|marks\/state|calls\/(cost|ending|tokens)))\.tsx?$|src\/api\/(?!operator\/|verification|own-credentials)|forms\/(form|sheet)\.module\.css$/,
              priority: 4,
            },
            // What stands above the page when it is wanted: menus and tips.
            { name: 'floating', test: /src\/parts\/page\/opened-(menu|tip)\.tsx$/, priority: 3 },
            {
              name: 'filters',
              test: /src\/parts\/lists\/(filters|export-menu)\.tsx$|\/(Checkbox|Switch)\.mjs$/,
              priority: 2,
            },
            {
              name: 'sign-in',
              test: /src\/(app\/signed-out\/signed-out|sign-in\/(sign-in|register|reset)-page)\.tsx$/,
              priority: 1,
            },
            // What most other pages use: forms and dialogs.
            { name: 'pages', minShareCount: PAGES_SHARE_MIN, minModuleSize: 0 },
            // What operators ask for: the first page of everybody else asks for none of it.
            { name: 'operator', test: /src\/api\/operator\// },
          ],
        },
      },
    },
  },
  // `npx vite console` beside a running gateway.
  server: { proxy: { '^/(api|v1|v1beta)/': 'http://127.0.0.1:8080' } },
})
