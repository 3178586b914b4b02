/** The shared start of both Ruby reporters. They run on any Ruby since 2.6. */
const RUBY_EVENTS = String.raw`
require "json"

module OctantEvents
  def self.tell(event)
    File.open(ENV.fetch("OCTANT_TEST_EVENTS"), "a") { |file| file.puts(JSON.generate(event)) }
  end

  def self.own_frames(error)
    (error.backtrace || []).reject { |frame| frame.include?("/gems/") }
  end

  def self.problem(error)
    message = error.message.to_s.scrub[0, 65536].strip
    { message: message.empty? ? error.class.name : message, stack: own_frames(error).join("\n")[0, 65536] }
  end
end
`;

/** The variable with the regular expression that selects tests by "name" or "Class#name". */
export const RUBY_PATTERN_VARIABLE = "OCTANT_TEST_PATTERN";

/** Minitest 5 loads every file of this name on the load path. */
export const MINITEST_PLUGIN_FILE = "minitest/octant_plugin.rb";

export const MINITEST_PLUGIN = `
${RUBY_EVENTS}
module Minitest
  class OctantReporter < AbstractReporter
    def record(result)
      name = result.respond_to?(:klass) ? result.klass : result.class.name
      file, = result.respond_to?(:source_location) ? result.source_location : result.method(result.name).source_location
      failure = result.failure
      outcome = result.passed? ? "pass" : result.skipped? ? "skip" : "fail"
      OctantEvents.tell(
        event: "test", name: result.name, suite: [name], file: file, id: "#{name}##{result.name}",
        outcome: outcome, ms: (result.time || 0) * 1000,
        problem: outcome == "fail" ? problem(failure) : nil,
      )
    end

    def problem(failure)
      file, line = failure.location.to_s.split(":")
      place = file && line && { file: file, line: line.to_i }
      OctantEvents.problem(failure).merge(place ? { at: place } : {})
    end

    def report
      OctantEvents.tell(event: "end")
    end
  end

  def self.plugin_octant_options(_opts, options)
    pattern = ENV["OCTANT_TEST_PATTERN"]
    options[:filter] = options[:include] = Regexp.new(pattern) if pattern
  end

  def self.plugin_octant_init(_options)
    reporter << OctantReporter.new
  end
end
`;

export const RSPEC_FORMATTER = `
require "rspec/core/formatters"
${RUBY_EVENTS}
class OctantFormatter
  RSpec::Core::Formatters.register self, :example_passed, :example_failed, :example_pending, :dump_summary

  def initialize(_output); end

  def example_passed(notification); tell(notification.example, "pass"); end
  def example_pending(notification); tell(notification.example, "skip"); end
  def example_failed(notification); tell(notification.example, "fail"); end

  def dump_summary(summary)
    errors = summary.respond_to?(:errors_outside_of_examples_count) ? summary.errors_outside_of_examples_count : 0
    OctantEvents.tell(event: "broken", name: "rspec", problem: { message: "#{errors} error(s) outside of examples" }) if errors > 0
    OctantEvents.tell(event: "end")
  end

  private

  def tell(example, outcome)
    groups = example.example_group.parent_groups.reverse.map(&:description)
    error = example.execution_result.exception
    OctantEvents.tell(
      event: "test", name: example.description, suite: groups, file: example.metadata[:absolute_file_path],
      id: example.id, outcome: outcome, ms: (example.execution_result.run_time || 0) * 1000,
      problem: outcome == "fail" && error ? OctantEvents.problem(error) : nil,
    )
  end
end
`;
