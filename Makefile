# Set up, run, check and test Slipway. `make` alone says what there is.
# Every step does only what is needed: a second call of the same target takes seconds.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PNPM_VERSION := 12.21.0
PNPM := .tools/node_modules/.bin/pnpm
PNPM_STAMP := .tools/pnpm-$(PNPM_VERSION)
export PATH := $(CURDIR)/.tools/node_modules/.bin:$(CURDIR)/node_modules/.bin:$(PATH)

INSTALLED := node_modules/.slipway-installed
GENERATED := packages/database/src/generated/newest-migration.ts
# By its whole path, so that `make down` takes no other clone's `make run` for its own.
SUITE := node '$(CURDIR)/scripts/suite.mjs'
# What the suite runs with; as there, the environment wins.
WITH_SETTINGS = if [ -f .slipway/settings.env ]; then given="$$(export -p)"; set -a; . .slipway/settings.env; eval "$$given"; fi

.PHONY: help install generate build client configuration catalog packages test-packages test-all-packages migrate run up down status logs join-token reset-password audit-verify rotate-keys retention dead-letters check test test-all servers servers-down crash-points bench campaign mutants campaign-soak screenshots images manifests pin-images package-cli package-client release clean

help: ## Print this list
	@awk -F':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' Makefile

# --- set up -----------------------------------------------------------------------------------------------------

$(PNPM_STAMP):
	@node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' \
	  || { echo "Slipway needs Node 20.19 or newer; this is $$(node --version 2>&1)" >&2; exit 1; }
	@mkdir -p .tools && rm -f .tools/pnpm-*
	@scripts/phase.sh 'getting pnpm $(PNPM_VERSION)' \
	  npm install --prefix .tools --no-save --no-package-lock --no-audit --no-fund --loglevel=error pnpm@$(PNPM_VERSION)
	@touch $@

$(INSTALLED): $(PNPM_STAMP) pnpm-lock.yaml pnpm-workspace.yaml package.json $(wildcard packages/*/package.json services/*/package.json tests/support/package.json)
	@scripts/phase.sh 'packages of npm' $(PNPM) install --frozen-lockfile --config.confirmModulesPurge=false --reporter=append-only
	@touch $@

install: $(INSTALLED) ## Get pnpm and all packages

# The client needs no native engine: naming a program that does nothing keeps Prisma from downloading one.
$(GENERATED): prisma/schema.prisma prisma/migrations prisma.config.ts $(INSTALLED)
	@PRISMA_SCHEMA_ENGINE_BINARY="$$(type -P true)" CHECKPOINT_DISABLE=1 PRISMA_HIDE_UPDATE_MESSAGE=1 \
	  scripts/phase.sh 'client of the database' prisma generate --config prisma.config.ts
	@node packages/database/scripts/newest-migration.mjs

generate: $(GENERATED) ## Generate the database client from prisma/schema.prisma

build: $(GENERATED) ## Compile every package, every service into one file, the console and the manual
	@scripts/phase.sh build bash -c 'tsc -b && node scripts/bundle.mjs && node packages/console/scripts/build.mjs \
	  && node packages/manual/scripts/build.mjs'

# Builds the contracts alone before: what already uses a new field does not compile yet.
client: $(GENERATED) ## Generate the client's types from the OpenAPI document
	@tsc -b packages/contracts && node packages/client/scripts/generate.mjs && tsc -b

configuration: $(GENERATED) ## Write docs/configuration.md from the services' schemas
	@node --conditions=@slipway/source --import=./scripts/jest/register.mjs scripts/configuration.mjs

catalog: build ## Write the tables of docs/catalog.md from the schemas
	@node packages/cli/scripts/catalog-page.mjs

packages:
	@scripts/infra.sh packages

test-packages:
	@scripts/infra.sh packages test

test-all-packages:
	@scripts/infra.sh packages test-all

# --- run --------------------------------------------------------------------------------------------------------

migrate: build ## Bring the database to the newest schema
	@scripts/infra.sh up migrate
	@eval "$$(scripts/infra.sh env)"; status=0; node packages/database/scripts/migrate.mjs deploy || status=$$?; \
	  scripts/infra.sh release migrate; exit $$status

# Debian's packages are installed while npm's are.
run: ## Start everything, deploy the example, serve until Ctrl-C; OIDC=1: with a login provider and two users
	@$(MAKE) -j2 build packages
	@exec $(SUITE) run

up: ## Start in the background what does not run: everything, or what has died
	@$(MAKE) -j2 build packages
	@exec $(SUITE) up

down: ## Stop what `make up` started
	@exec $(SUITE) down

status: ## Show processes and servers
	@exec $(SUITE) status

logs: ## Follow the logs of all services, or of one: make logs SERVICE=gateway
	@exec $(SUITE) logs $(SERVICE)

join-token: build ## Make a token with which an orchestration instance joins; ARGS='--uses 2 --file PATH'
	@eval "$$(scripts/infra.sh env)"; exec node services/gateway/dist/administration/join-token.js $(ARGS)

reset-password: build ## Set a new password for a user who cannot log in: ARGS='--email admin@example.com'
	@eval "$$(scripts/infra.sh env)"; exec node services/gateway/dist/administration/reset-password.js $(ARGS)

audit-verify: build ## Check that nobody has tampered with the audit log: ARGS='--expect POSITION:HASH'
	@eval "$$(scripts/infra.sh env)"; DATABASE_URL="$${DATABASE_URL_AUDIT_VERIFY:-$$DATABASE_URL}" \
	  exec node services/gateway/dist/audit/verify.js $(ARGS)

rotate-keys: build ## Seal every stored secret under the first of the encryption keys
	@eval "$$(scripts/infra.sh env)"; $(WITH_SETTINGS); DATABASE_URL="$${DATABASE_URL_ROTATE_KEYS:-$$DATABASE_URL}" \
	  exec node services/gateway/dist/keys/rotate.js

retention: build ## Say what is old enough to be dropped; drop it now with ARGS=--apply
	@eval "$$(scripts/infra.sh env)"; $(WITH_SETTINGS); DATABASE_URL="$${DATABASE_URL_RETENTION:-$$DATABASE_URL}" \
	  exec node services/dispatcher/dist/retention/command.js $(ARGS)

dead-letters: build ## Messages that could not be handled: ARGS=list, 'show ID', 'replay ID', 'drop ID'
	@eval "$$(scripts/infra.sh env)"; exec node packages/broker/dist/dead-letters/command.js $(or $(ARGS),list)

# --- check and test ---------------------------------------------------------------------------------------------

check: $(GENERATED) ## Format, lint, types, boundaries, lockfile
	@biome check --error-on-warnings .
	@tsc -p tsconfig.check.json
	@tsc -b packages/contracts packages/client && node packages/client/scripts/generate.mjs --check
	@tsc -p packages/console
	@node scripts/boundaries.mjs
	@node scripts/links.mjs
	@node packages/database/scripts/contractions.mjs
	@if grep -n '://' pnpm-lock.yaml; then echo 'pnpm-lock.yaml names a host: it must install from any registry' >&2; exit 1; fi
	@echo 'check: all good'

test: $(GENERATED) ## Run the tests against real servers, at most five minutes; some files alone: TESTS=packages/domain
	@exec node scripts/test.mjs $(TESTS)

test-all: $(GENERATED) ## Run the tests of a release too, at most twenty minutes: kills, the short campaign, Helm, packages, all examples
	@exec node scripts/test.mjs --all

servers: $(PNPM_STAMP) ## Start the servers of `make test` and keep them up between runs
	@$(MAKE) build
	@scripts/infra.sh up servers

servers-down: ## Stop what `make servers` started
	@scripts/infra.sh release servers

crash-points: build ## Kill each process at each moment of a deployment, HITS=20 times each: CELLS='takeover|run.stopped'
	@node scripts/bundle.mjs --failpoints
	@scripts/infra.sh up crash-points
	@eval "$$(scripts/infra.sh env)"; status=0; HITS=$(or $(HITS),20) CELLS='$(CELLS)' RESUME=$(RESUME) node --conditions=@slipway/source \
	  --import=./scripts/jest/register.mjs tests/campaign/crash-points/run.ts || status=$$?; scripts/infra.sh release crash-points; exit $$status

bench: build ## Measure the product beside its floors and print the table of docs/performance.md; some alone: ARGS='create list'
	@scripts/infra.sh up bench
	@status=0; node bench/run.mjs $(ARGS) || status=$$?; scripts/infra.sh release bench; exit $$status

campaign: build test-all-packages ## Try to break the suite with random faults, and judge what is left: MINUTES=60, SEED=n, ROUND=n; see tests/campaign/README.md
	@exec node --conditions=@slipway/source --import=./scripts/jest/register.mjs tests/campaign/main.ts

mutants: build test-all-packages ## Plant faults into a copy of the sources, and list which test finds which; goes on where it ended: ONLY=id,id
	@scripts/infra.sh up mutants
	@eval "$$(scripts/infra.sh env)"; status=0; ONLY='$(ONLY)' node --conditions=@slipway/source \
	  --import=./scripts/jest/register.mjs tests/campaign/mutants/run.ts || status=$$?; scripts/infra.sh release mutants; exit $$status

campaign-soak: build test-all-packages ## Measure whether memory, tables, queues or times grow under a steady load: MINUTES=60; see tests/campaign/README.md
	@exec node --conditions=@slipway/source --import=./scripts/jest/register.mjs tests/campaign/soak/main.ts

screenshots: build ## Take the pictures of the console in docs/images again
	@scripts/infra.sh up screenshots
	@status=0; node scripts/screenshots/take.mjs || status=$$?; scripts/infra.sh release screenshots; exit $$status

images: ## Build the images of all services with docker, podman or buildah; see docs/images.md
	@exec scripts/images.sh $(ARGS)

manifests: $(INSTALLED) ## Render the Helm chart to plain YAML in dist, or with values of your own: ARGS='values.yaml --set autoscaling.by=hpa'
	@node scripts/manifests.mjs $(ARGS)

package-cli: build ## Pack the command line for npm: dist/slipway-cli-VERSION.tgz
	@node scripts/package-cli.mjs $(ARGS)

package-client: build ## Pack the typed client for npm: dist/slipway-client-VERSION.tgz
	@node scripts/package-client.mjs $(ARGS)

pin-images: ## Write the digests of external images, from their registries
	@node scripts/pin-images.mjs $(ARGS)

release: build ## Check, write all files of a release to dist, and tag; only to try it: ARGS=--snapshot; see docs/releasing.md
	@node scripts/release.mjs $(ARGS)

clean: ## Stop everything and remove what was made
	@if [ -d .slipway ]; then $(SUITE) down; scripts/infra.sh remove; fi
	rm -rf .slipway dist packages/database/src/generated packages/*/dist services/*/dist tests/support/dist
	rm -rf node_modules packages/*/node_modules services/*/node_modules tests/support/node_modules .tools
