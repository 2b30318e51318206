import { defineConfig } from 'vite'

/** The library's table has fourteen colours in ten shades, twice. The console's look is its own and wears none of these. */
const UNWORN = /^--mantine-color-(pink|grape|violet|indigo|blue|cyan|green|lime|yellow|orange)-/

/** Of the pages, how many need a module that comes with all of them. */
const PAGES_SHARE_MIN = 12

export default defineConfig({
  base: '/console/',
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
          // With all they import: one file is smaller than the hundred it would be, and is there after one request.
          groups: [
            { name: 'start', test: /src\/main\.tsx$/, priority: 2 },
            {
              name: 'first-page',
              test: /src\/(app\/frame\/frame|overview\/overview-page)\.tsx$/,
              priority: 1,
            },
            // What most pages are made of: lists, filters, forms. Two dozen small files are slower than one.
            { name: 'pages', minShareCount: PAGES_SHARE_MIN, minModuleSize: 0 },
          ],
        },
      },
    },
  },
  // `npx vite console` beside a running gateway.
  server: { proxy: { '^/(api|v1|v1beta)/': 'http://127.0.0.1:8080' } },
})
