import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/snap/bin/chromium',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Where Chromium is: `CHROMIUM_PATH`, a usual place, or where playwright keeps its own. Undefined when nowhere. */
export function findChromium(): string | undefined {
  const { CHROMIUM_PATH } = process.env
  if (CHROMIUM_PATH !== undefined && CHROMIUM_PATH !== '') return existsSync(CHROMIUM_PATH) ? CHROMIUM_PATH : undefined
  return [...PLACES, chromium.executablePath()].find((place) => existsSync(place))
}

/**
 * Where Chromium is, installed first where that can be done without asking: as root on Debian.
 *
 * @throws Error with the command to run, everywhere else
 */
export function ensureChromium(): string {
  const found = findChromium()
  if (found !== undefined) return found
  if (process.env.CHROMIUM_PATH) throw new Error(`CHROMIUM_PATH is ${process.env.CHROMIUM_PATH}, where there is no program`)
  if (process.getuid?.() !== 0 || !isDebian()) throw new Error(`the browser tests need Chromium, and there is none. ${howTo()}`)

  console.log('installing Chromium (apt-get)')
  apt('update')
  apt('install', '--yes', '--no-install-recommends', 'chromium')
  const installed = findChromium()
  if (installed === undefined) throw new Error('apt-get installed chromium, and it is in none of the usual places: set CHROMIUM_PATH')
  return installed
}

function apt(...args: string[]): void {
  const { status, stdout, stderr } = spawnSync('apt-get', ['--quiet', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`apt-get ${args.join(' ')} ended with ${status}\n${stdout}${stderr}`)
}

function isDebian(): boolean {
  return existsSync('/etc/os-release') && /^ID=debian$/m.test(readFileSync('/etc/os-release', 'utf8'))
}

function howTo(): string {
  const command = process.platform === 'darwin' ? 'brew install --cask chromium' : 'sudo apt-get install chromium'
  return `Run \`${command}\`, or set CHROMIUM_PATH to one`
}
