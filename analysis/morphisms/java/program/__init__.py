"""What can be known of a Java program from its text: syntax, names, types, effects, and what javac makes of its flow."""
