#!/usr/bin/env node
import '../dist/bundle.js'
